-- Fences. A claim is always the parameters $2 to $5: its partitions, their epochs, the resource and the owner.

-- name: claimed
-- No query but a part of all that are fenced: the partitions whose fences are those of the claim. Locks: these fences,
-- ascending, in the mode that the query gives in brackets.
held as materialized (
  select f.partition
  from (
      select set_config('lock_timeout', '900ms', true),
        set_config('headrace_audit.claim', json_build_object('resource', $4::text, 'owner', $5::text,
          'partitions', $2::integer[], 'epochs', $3::bigint[])::text, true)
    ) as bound
    cross join unnest($2::integer[], $3::bigint[]) as h (partition, epoch)
    join headrace.fence f on f.resource = $4 and f.partition = h.partition and f.epoch = h.epoch and f.owner = $5
  order by f.partition
  for :lock of f
),
claim as materialized (select coalesce(array_agg(partition), '{}') as partitions from held),

-- name: raise
-- Locks: the fences, ascending; waits for the fenced writes of earlier claims. Answers those that were raised.
-- The meaning of raiseFence in src/fence.ts.
insert into headrace.fence as f (resource, partition, epoch, owner, raised_at, concurrency)
select $4, h.partition, h.epoch, $5, clock.now, $1::integer
from (select headrace.now_ms() as now, set_config('lock_timeout', '900ms', true)) as clock
  cross join unnest($2::integer[], $3::bigint[]) as h (partition, epoch)
where headrace.in_life(':life')
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
-- Locks: the fences, ascending; waits for the fenced writes of the claim. $1: the concurrency that is left, 0.
with
:claimed(no key update)
released as (
  update headrace.fence f set concurrency = $1::integer
  from held
  where f.resource = $4 and f.partition = held.partition and headrace.in_life(':life')
  returning 1
)
select count(*) as released from released

-- name: fences
select partition, epoch, owner, raised_at from headrace.fence where resource = $1 order by partition
