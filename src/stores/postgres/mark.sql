-- name: mark
-- The meaning of src/pool/mark.ts in one statement. Locks: the fences of the claim (shared), then entries by (key, slot).
-- Index: the primary keys; lateral, so that no size of the batch makes it a scan.
-- Answers one row per mark: marked · gone · refused, and when the entry's next run is due.
with
:claimed(share)
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
  :not_claimed
  cross join (select headrace.in_time(1000, (select count(*) from found))) as bound
order by a.nth
