-- name: forget_requests
-- Locks: up to $1 requests whose time is over, those that nobody else has. Index: request_until.
with gone as (
  delete from headrace.request r using (
    select scope, id, round from headrace.request
    where until <= (select headrace.now_ms()) order by until limit $1::bigint for update skip locked
  ) as old
  where r.scope = old.scope and r.id = old.id and r.round = old.round
  returning r.scope, r.id, r.round
),
answers as (
  delete from headrace.answer a using gone
  where a.scope = gone.scope and a.id = gone.id and a.round = gone.round
)
select count(*) as gone from gone

-- name: forget_fired
-- Locks: up to $1 slots that are remembered no longer, those that nobody else has. Index: entry_fired.
with gone as (
  delete from headrace.entry e using (
    select pool, key, slot from headrace.entry
    where state = 'fired' and until <= (select headrace.now_ms()) order by until limit $1::bigint for update skip locked
  ) as old
  where e.pool = old.pool and e.key = old.key and e.slot = old.slot and e.state = 'fired'
  returning 1
)
select count(*) as gone from gone
