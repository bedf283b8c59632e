-- Pools and their entries, but for puts, settles and moves, which have files of their own.

-- name: open_pool
-- Lock: the pool's row, if it exists. A time that is not named is left.
insert into headrace.pool as p (name, mode, partitions, remember_ms, dead_for_ms, fans_out, throttle_ms, payloads)
select $1, $2, $3, coalesce($4::bigint, 0), coalesce($5::bigint, 2592000000), coalesce($6::boolean, false),
  coalesce($7::bigint, 0), coalesce($8::text, 'latest')
where headrace.in_life(':life')
on conflict (name) do update set remember_ms = coalesce($4::bigint, p.remember_ms),
  dead_for_ms = coalesce($5::bigint, p.dead_for_ms), throttle_ms = coalesce($7::bigint, p.throttle_ms)
  where p.mode = excluded.mode and p.partitions = excluded.partitions and coalesce(p.fans_out = $6::boolean, true)
    and coalesce(p.payloads = $8::text, true)
returning id, fans_out, payloads

-- name: find_pool
select name, mode, partitions, fans_out, payloads from headrace.pool where name = $1

-- name: all_pools
select name, mode, partitions, remember_ms, dead_for_ms, fans_out, throttle_ms, payloads from headrace.pool order by name

-- name: stored_pool
select name, mode, partitions, remember_ms, dead_for_ms, fans_out, throttle_ms, payloads from headrace.pool where name = $1

-- name: cancel
-- Locks: the entries of the key. Index: the primary key.
-- `now` is read under the lock of each: what fell due while the cancel waited may have been taken.
with bound as materialized (select set_config('lock_timeout', '4500ms', true)),
gone as (
  delete from headrace.entry e using bound
  where e.pool = $1 and e.key = $2 and ($3::bigint is null or e.slot = $3::bigint) and e.state <> 'fired'
  returning e.state = 'live' and e.due_at <= headrace.now_ms() as due
)
select count(*) filter (where not due) as cancelled, count(*) filter (where due) as due from gone
where headrace.in_life(':life')

-- name: lock_entries
-- Locks: the entry that is moved and the slot that it moves to, ascending. Index: the primary key.
select e.*
from (select set_config('lock_timeout', '4500ms', true)) as bound cross join headrace.entry e
where e.pool = $1 and e.key = $2 and e.slot = any ($3::bigint[])
order by e.slot
for update of e

-- name: read_clock
select headrace.now_ms() as now, remember_ms, throttle_ms from headrace.pool where id = $1

-- name: move_next
update headrace.entry set due_at = $4, turn = nextval('headrace.turn')
where pool = $1 and key = $2 and slot = $3 and headrace.in_time(5000, slot)

-- name: remove_entry
delete from headrace.entry where pool = $1 and key = $2 and slot = $3
