-- Pools and their entries, but for puts, settles and moves, which have files of their own.

-- name: open_pool
-- Lock: the pool's row, if it exists. A time that is not named is left.
insert into headrace.pool as p (name, mode, partitions, remember_ms, dead_for_ms, fans_out, throttle_ms, payloads)
values ($1, $2, $3, coalesce($4::bigint, 0), coalesce($5::bigint, 2592000000), coalesce($6::boolean, false),
  coalesce($7::bigint, 0), coalesce($8::text, 'latest'))
on conflict (name) do update set remember_ms = coalesce($4::bigint, p.remember_ms),
  dead_for_ms = coalesce($5::bigint, p.dead_for_ms), throttle_ms = coalesce($7::bigint, p.throttle_ms)
  where p.mode = excluded.mode and p.partitions = excluded.partitions and coalesce(p.fans_out = $6::boolean, true)
    and coalesce(p.payloads = $8::text, true)
returning id, fans_out, payloads

-- name: find_pool
select name, mode, partitions, fans_out, payloads from headrace.pool where name = $1

-- name: all_pools
select name, mode, partitions, remember_ms, dead_for_ms from headrace.pool order by name

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
select headrace.now_ms() as now, remember_ms, throttle_ms from headrace.pool where id = $1

-- name: move_next
update headrace.entry set due_at = $4, turn = nextval('headrace.turn')
where pool = $1 and key = $2 and slot = $3 and headrace.in_time(5000, slot)

-- name: remove_entry
delete from headrace.entry where pool = $1 and key = $2 and slot = $3

-- name: due_runs
-- No query but a part of those that take. No lock. Index: entry_due, one range per partition, and one seek more for what is
-- due next if the limit was not met.
-- Of each partition no more is read than $6 rows; where that was not enough, since one of them holds the most of what is
-- due, the whole limit.
with clock as materialized (select headrace.now_ms() as now),
near as materialized (
  select e.*, e.nth = $6::bigint as is_last
  from clock cross join unnest($2::smallint[]) as p (partition) cross join lateral (
    select e.*, row_number() over () as nth
    from (
      select key, slot, grp, e.partition, turn, due_at, tally, payload, attempt, crashes, put_at
      from headrace.entry e
      where e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
        and e.due_at >= $4::bigint and e.due_at <= clock.now
      order by e.due_at
      limit $6::bigint
    ) as e
  ) as e
),
-- What is due at or before it was read in every partition, or as much of it.
bound as materialized (select min(due_at) filter (where is_last) as due_at from near),
enough as materialized (
  select bound.due_at is null or (select count(*) from near where near.due_at <= bound.due_at) >= $5::bigint as is_enough
  from bound
),
due as (
  select e.key, e.slot, e.grp, e.partition, e.turn, e.due_at, e.tally, e.payload, e.attempt, e.crashes,
    e.put_at
  from (
    select near.key, near.slot, near.grp, near.partition, near.turn, near.due_at, near.tally, near.payload, near.attempt,
      near.crashes, near.put_at
    from near cross join bound
    where (select is_enough from enough) and (bound.due_at is null or near.due_at <= bound.due_at)
    union all
    select e.*
    from clock cross join unnest($2::smallint[]) as p (partition) cross join lateral (
      select key, slot, grp, e.partition, turn, due_at, tally, payload, attempt, crashes, put_at
      from headrace.entry e
      where not (select is_enough from enough)
        and e.pool = $1 and e.partition = p.partition and e.lane = $3::smallint and e.state = 'live'
        and e.due_at >= $4::bigint and e.due_at <= clock.now
      order by e.due_at
      limit $5::bigint
    ) as e
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

-- name: take
:due_runs
select clock.now, later.next_due_at, due.* from clock cross join later left join due on true

-- name: take_all
-- With the payloads of each run, in the same snapshot. Index: the primary key of the payloads.
:due_runs
select clock.now, later.next_due_at, due.*, array(
    select p.payload from headrace.payload p where p.pool = $1 and p.key = due.key and not p.after order by p.id
  ) as payloads
from clock cross join later left join due on true
