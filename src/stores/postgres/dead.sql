-- What was given up.

-- name: redrive
-- Lock: the entry. Index: the primary key.
update headrace.entry e
set state = 'live', due_at = headrace.now_ms(), attempt = 0, crashes = null, turn = nextval('headrace.turn')
from (select set_config('lock_timeout', '4500ms', true)) as bound
where e.pool = $1 and e.key = $2 and e.slot = $3::bigint and e.state = 'dead' and headrace.in_time(5000, e.slot)
returning e.due_at

-- name: remove_dead
-- Lock: the entry. Index: the primary key; of the deaths all of the pool are read. A person asks for it, one key at a time.
with gone as (
  delete from headrace.entry e using (select set_config('lock_timeout', '4500ms', true)) as bound
  where e.pool = $1 and e.key = $2 and e.slot = $3::bigint and e.state = 'dead'
  returning e.key
),
forgotten as (
  delete from headrace.death d using gone
  where d.pool = $1 and d.key = gone.key and d.slot = $3::bigint
)
select count(*) as removed from gone
