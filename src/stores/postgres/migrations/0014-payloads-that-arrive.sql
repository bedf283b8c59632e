-- Whether a text is JSON of at most so many bytes; null is. Asked at the fold: rows of `arrival` may be written by hand.
create function headrace.is_json(given text, most integer) returns boolean language plpgsql immutable as $$
begin
  if octet_length(given) > most then return false; end if;
  perform given::json;
  return true;
exception when others then return false;
end $$;
