-- What is forgotten when its time is over. A row that changed since the statement began is left for the next time.

-- name: forget_requests
-- Locks: up to $1 requests whose time is over, those that nobody else has. Index: request_until.
with gone as (
  delete from headrace.request
  where ctid = any (array(
    select ctid from headrace.request
    where until <= (select headrace.now_ms()) order by until limit $1::bigint for update skip locked
  ))
  returning scope, id, round
),
answers as (
  delete from headrace.answer a using gone
  where a.scope = gone.scope and a.id = gone.id and a.round = gone.round
)
select count(*) as gone from gone

-- name: forget_fired
-- Locks: up to $1 slots that are remembered no longer, those that nobody else has. Index: entry_fired.
with gone as (
  delete from headrace.entry
  where state = 'fired' and ctid = any (array(
    select ctid from headrace.entry
    where state = 'fired' and until <= (select headrace.now_ms()) order by until limit $1::bigint for update skip locked
  ))
  returning 1
)
select count(*) as gone from gone
