-- Undoes a statement outside of the transaction in which this name was set. The first statement of a put in a user's
-- transaction sets it until that transaction ends.
create function headrace.in_transaction(asked text) returns boolean language plpgsql volatile as $$
begin
  if current_setting('headrace_put.transaction', true) is distinct from asked then
    raise exception 'not in the transaction of the put' using errcode = 'no_active_sql_transaction';
  end if;
  return true;
end $$;
