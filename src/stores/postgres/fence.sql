-- name: raise
-- Locks: the fences, ascending; waits for the fenced writes of earlier claims. Answers those that were raised.
-- The meaning of raiseFence in src/fence.ts.
insert into headrace.fence as f (resource, partition, epoch, owner, raised_at, concurrency)
select $1, h.partition, h.epoch, $2, clock.now, $5::integer
from (select headrace.now_ms() as now, set_config('lock_timeout', '900ms', true)) as clock
  cross join unnest($3::integer[], $4::bigint[]) as h (partition, epoch)
order by h.partition
on conflict (resource, partition) do update
  set epoch = excluded.epoch, owner = excluded.owner,
    raised_at = case when f.epoch = excluded.epoch then f.raised_at else headrace.now_ms() end,
    concurrency = excluded.concurrency,
    suspects = case when f.epoch = excluded.epoch then f.suspects when f.owner = excluded.owner then 0
      else f.concurrency end
  where f.epoch < excluded.epoch or (f.epoch = excluded.epoch and f.owner = excluded.owner)
returning partition, suspects

-- name: release_fences
-- Locks: the fences, ascending; waits for the fenced writes of the claim.
with held as materialized (
  select f.partition
  from (select set_config('lock_timeout', '900ms', true)) as bound
    cross join unnest($3::integer[], $4::bigint[]) as h (partition, epoch)
    join headrace.fence f on f.resource = $1 and f.partition = h.partition and f.epoch = h.epoch and f.owner = $2
  order by f.partition
  for no key update of f
)
update headrace.fence f set concurrency = 0
from held
where f.resource = $1 and f.partition = held.partition

-- name: fences
select partition, epoch, owner, raised_at from headrace.fence where resource = $1 order by partition
