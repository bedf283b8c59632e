-- name: mark
-- The meaning of src/pool/mark.ts in one statement. Locks: the fences of the claim (shared), then entries by (key, slot).
-- Index: the primary keys; lateral, so that no size of the batch makes it a scan.
-- Answers one row per mark: marked · gone · refused, and when the entry's next run is due.
with held as materialized (
  select f.partition
  from (
      select set_config('lock_timeout', '900ms', true),
        set_config('headrace_audit.claim', json_build_object('resource', $4::text, 'owner', $5::text,
          'partitions', $2::integer[], 'epochs', $3::bigint[])::text, true)
    ) as bound
    cross join unnest($2::integer[], $3::bigint[]) as h (partition, epoch)
    join headrace.fence f on f.resource = $4 and f.partition = h.partition and f.epoch = h.epoch and f.owner = $5
  order by f.partition
  for share of f
),
claim as materialized (select coalesce(array_agg(partition), '{}') as partitions from held),
asked as materialized (
  select *
  from unnest($6::text[], $7::bigint[], $8::bigint[], $9::smallint[]) with ordinality
    as asked (key, slot, turn, crashes, nth)
),
found as materialized (
  select a.nth, a.turn = e.turn and e.state = 'live' as holds, a.crashes, e.key, e.slot, e.due_at, e.state
  from claim cross join (select * from asked order by key collate "C", slot) as a cross join lateral (
    select e.key, e.slot, e.turn, e.due_at, e.state
    from headrace.entry e
    where e.pool = $1 and e.key = a.key and e.slot = a.slot and e.state <> 'fired'
      and e.partition = any (claim.partitions)
    for update
  ) as e
),
marked as (
  update headrace.entry e set crashes = f.crashes
  from found f
  where f.holds and e.pool = $1 and e.key = f.key and e.slot = f.slot
)
select
  case
    when f.holds then 'marked'
    when o.turn = a.turn and o.state = 'live' then 'refused'
    else 'gone'
  end as result,
  case
    when f.state = 'live' then f.due_at
    when o.turn <> a.turn and o.state = 'live' then o.due_at
  end as next_due_at
from asked a
  left join found f on f.nth = a.nth
  -- An entry of which the claim is not the fence's: gone all the same if its turn is another one by now.
  left join lateral (
    select o.turn, o.due_at, o.state
    from headrace.entry o cross join claim
    where f.nth is null and o.pool = $1 and o.key = a.key and o.slot = a.slot and o.state <> 'fired'
      and o.partition <> all (claim.partitions)
    limit 1
  ) as o on true
  cross join (select headrace.in_time(1000, (select count(*) from found))) as bound
order by a.nth
