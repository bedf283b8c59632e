-- Undoes a transaction that took longer than its caller waits, and than others look back for what it wrote. A statement
-- asks at its end, since it cannot bound itself and a pooler keeps no setting of a session; `done` is what must be done
-- before it asks.
create function headrace.in_time(ms integer, done bigint) returns boolean language plpgsql volatile as $$
begin
  if clock_timestamp() - transaction_timestamp() > ms * interval '1 millisecond' then
    raise exception 'the transaction took longer than % ms', ms using errcode = 'query_canceled';
  end if;
  return true;
end $$;

-- Takes its place in the queue for an entry that others lock one after the other, but not for long behind one of them.
create function headrace.wait_for(pool integer, key text, slot bigint) returns void language plpgsql volatile
set lock_timeout = '200ms' as $$
begin
  perform from headrace.entry e where e.pool = $1 and e.key = $2 and e.slot = $3 for update;
exception when lock_not_available then null;
end $$;
