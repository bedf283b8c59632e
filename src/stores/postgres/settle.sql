-- name: settle
-- The meaning of src/pool/settle.ts in one statement. Locks: the fences of the claim (shared), then entries by (key,
-- slot). Index: the primary keys; lateral, so that no size of the batch makes it a scan.
-- Answers one row per settlement: settled · gone · refused, and when the entry's next run is due.
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
  from unnest($6::text[], $7::bigint[], $8::bigint[], $9::integer[], $10::text[], $11::bigint[], $12::text[],
    $13::text[]) with ordinality as asked (key, slot, turn, seen, outcome, again_at, reason, error, nth)
),
found as materialized (
  select a.nth, a.turn as asked_turn, a.seen, a.outcome, a.again_at, a.reason, a.error, e.*
  from claim cross join (select * from asked order by key collate "C", slot) as a cross join lateral (
    select e.key, e.slot, e.turn, e.due_at, e.tally, e.payload, e.after_due_at, e.after_tally, e.after_payload,
      e.attempt, e.state
    from headrace.entry e
    where e.pool = $1 and e.key = a.key and e.slot = a.slot and e.state <> 'fired'
      and e.partition = any (claim.partitions)
    for update
  ) as e
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from found) as locked),
-- step: 1 put off · 2 what was put since goes on · 3 after goes on, the handler's own time waits · 4 the handler's own
-- time goes on, after waits · 5 nothing is left · 6 nothing is left, and it is dead
decided as materialized (
  select f.*, now, greatest(f.after_due_at, case when f.after_due_at is not null then now end) as after_due,
    greatest(f.again_at, now) as own_due,
    case
      when f.outcome = 'cancel' then 5
      when f.outcome = 'retry' then 1
      when f.tally > f.seen then 2
      when f.after_due_at is not null
        and (f.outcome <> 'again' or greatest(f.after_due_at, now) <= greatest(f.again_at, now)) then 3
      when f.outcome = 'again' then 4
      when f.outcome = 'dead' then 6
      else 5
    end as step
  from found f cross join clock
  where f.turn = f.asked_turn and f.state = 'live'
),
removed as (
  delete from headrace.entry e using decided d
  where d.step = 5 and e.pool = $1 and e.key = d.key and e.slot = d.slot
),
renewed as (
  update headrace.entry e set
    turn = nextval('headrace.turn'),
    due_at = case d.step when 1 then d.own_due when 2 then d.now when 3 then d.after_due when 4 then d.own_due
      else e.due_at end,
    tally = case d.step when 1 then d.tally when 2 then d.tally - d.seen when 3 then d.after_tally else 0 end,
    payload = case d.step when 3 then d.after_payload else e.payload end,
    after_due_at = case when d.step = 3 and d.outcome = 'again' then d.own_due
      when d.step = 3 then null when d.step in (2, 4) then d.after_due else e.after_due_at end,
    after_tally = case when d.step = 3 and d.outcome = 'again' then 0
      when d.step = 3 then null else e.after_tally end,
    after_payload = case when d.step = 3 and d.outcome = 'again' then d.payload
      when d.step = 3 then null else e.after_payload end,
    attempt = case d.step when 1 then d.attempt + 1 when 6 then d.attempt else 0 end,
    state = case d.step when 6 then 'dead' else 'live' end,
    failing = case when d.step = 1 then e.failing else d.outcome = 'dead' end
  from decided d
  where d.step <> 5 and e.pool = $1 and e.key = d.key and e.slot = d.slot
  returning d.nth, e.due_at, e.state
),
buried as (
  insert into headrace.death (pool, slot, seen, died_at, key, payload, reason, error)
  select $1, d.slot, d.seen, d.now, d.key, d.payload, d.reason, d.error
  from decided d where d.outcome = 'dead' order by d.nth
)
select
  case
    when d.nth is not null then 'settled'
    when f.nth is null and exists (
      select from headrace.entry e cross join claim
      where e.pool = $1 and e.key = a.key and e.slot = a.slot and e.state <> 'fired'
        and e.partition <> all (claim.partitions) and e.turn = a.turn and e.state = 'live'
    ) then 'refused'
    else 'gone'
  end as result,
  case
    when d.nth is not null then case when r.state = 'live' then r.due_at end
    when f.state = 'live' then f.due_at
  end as next_due_at
from asked a
  left join found f on f.nth = a.nth
  left join decided d on d.nth = a.nth
  left join renewed r on r.nth = a.nth
  cross join (select headrace.in_time(1000, (select count(*) from found))) as bound
order by a.nth
