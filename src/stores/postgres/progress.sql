-- The progress that runs report.

-- name: tell_progress
-- Locks: the fences of the claim (shared), then rows of progress by (key, slot). Index: the primary keys. The entries are
-- not locked: progress of a turn that goes meanwhile has no meaning.
with
:claimed(share)
written as (
  insert into headrace.progress as p (pool, key, slot, turn, value, told_at)
  select $1, a.key, a.slot, a.turn, a.value, headrace.now_ms()
  from claim cross join (
      select * from unnest($6::text[], $7::bigint[], $8::bigint[], $9::text[]) as asked (key, slot, turn, value)
      order by key collate "C", slot
    ) as a
    cross join lateral (
      select from headrace.entry e
      where e.pool = $1 and e.key = a.key and e.slot = a.slot and e.turn = a.turn and e.state = 'live'
        and e.partition = any (claim.partitions)
    ) as e
  on conflict (pool, key, slot) do update
    set turn = excluded.turn, value = excluded.value, told_at = excluded.told_at
  returning 1
)
select count(*) as written, headrace.in_time(1000, count(*)) as bound from written

-- name: read_progress
-- Index: the primary keys.
select p.value, p.told_at
from headrace.progress p join headrace.entry e on e.pool = p.pool and e.key = p.key and e.slot = p.slot
where p.pool = $1 and p.key = $2 and p.slot = $3::bigint and e.turn = p.turn and e.state = 'live'

-- name: sweep_progress
-- Locks: up to $2 rows that nobody else has. Index: progress_by_time.
with gone as (
  delete from headrace.progress
  where ctid = any (array(
    select ctid from headrace.progress
    where told_at <= (select headrace.now_ms()) - $1::bigint order by told_at limit $2::bigint for update skip locked
  ))
  returning 1
)
select count(*) as gone from gone
