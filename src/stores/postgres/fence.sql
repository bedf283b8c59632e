-- name: raise
-- Locks: the fences, ascending; waits for the fenced writes of earlier claims. Answers those that were raised.
insert into headrace.fence as f (resource, partition, epoch, owner, raised_at)
select $1, h.partition, h.epoch, $2, clock.now
from (select headrace.now_ms() as now, set_config('lock_timeout', '900ms', true)) as clock
  cross join unnest($3::integer[], $4::bigint[]) as h (partition, epoch)
order by h.partition
on conflict (resource, partition) do update
  set epoch = excluded.epoch, owner = excluded.owner,
    raised_at = case when f.epoch = excluded.epoch then f.raised_at else headrace.now_ms() end
  where f.epoch < excluded.epoch or (f.epoch = excluded.epoch and f.owner = excluded.owner)
returning partition

-- name: fences
select partition, epoch, owner, raised_at from headrace.fence where resource = $1 order by partition
