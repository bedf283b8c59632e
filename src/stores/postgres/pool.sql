-- Pools and their entries, but for puts, settles and moves, which have files of their own.

-- name: open_pool
-- Lock: the pool's row, if it exists. A time that is not named is left.
insert into headrace.pool as p (name, mode, partitions, remember_ms)
values ($1, $2, $3, coalesce($4::bigint, 0))
on conflict (name) do update set remember_ms = coalesce($4::bigint, p.remember_ms)
  where p.mode = excluded.mode and p.partitions = excluded.partitions
returning id

-- name: find_pool
select name, mode, partitions from headrace.pool where name = $1

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

-- name: lock_entries
-- Locks: the entry that is moved and the slot that it moves to, ascending. Index: the primary key.
select e.*
from (select set_config('lock_timeout', '4500ms', true)) as bound cross join headrace.entry e
where e.pool = $1 and e.key = $2 and e.slot = any ($3::bigint[])
order by e.slot
for update of e

-- name: read_clock
select headrace.now_ms() as now, (select remember_ms from headrace.pool where id = $1) as remember_ms

-- name: move_next
update headrace.entry set due_at = $4, turn = nextval('headrace.turn')
where pool = $1 and key = $2 and slot = $3 and headrace.in_time(5000, slot)

-- name: remove_entry
delete from headrace.entry where pool = $1 and key = $2 and slot = $3

-- name: take
-- No lock. Index: entry_due, one range per partition, and one seek more for what is due next if the limit was not met.
with clock as materialized (select headrace.now_ms() as now),
due as (
  select e.*
  from clock cross join unnest($2::smallint[]) as p (partition) cross join lateral (
    select key, slot, e.partition, turn, due_at, tally, payload, attempt, crashes
    from headrace.entry e
    where e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
      and e.due_at >= $4::bigint and e.due_at <= clock.now
    order by e.due_at
    limit $5::bigint
  ) as e
  order by e.due_at, e.key, e.slot
  limit $5::bigint
),
later as materialized (
  select case when (select count(*) from due) < $5::bigint then (
    select min(e.due_at)
    from clock cross join unnest($2::smallint[]) as p (partition) cross join lateral (
      select e.due_at
      from headrace.entry e
      where e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
        and e.due_at > clock.now
      order by e.due_at
      limit 1
    ) as e
  ) end as next_due_at
)
select clock.now, later.next_due_at, due.* from clock cross join later left join due on true
