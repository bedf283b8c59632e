-- name: settle
-- The meaning of src/pool/settle.ts in one statement. Locks: the fences of the claim (shared), then entries by (key,
-- slot). Index: the primary keys; lateral, so that no size of the batch makes it a scan.
-- Answers, by their places, those that are not settled with nothing left: their result, when the
-- entry's next run is due, and its step; codes.ts lists both. A row for each would cost the caller more than the rest of the settle.
with
:claimed(share)
asked as materialized (
  select *
  from unnest($6::text[], $7::bigint[], $8::bigint[], $9::integer[], $10::text[], $11::bigint[], $12::text[],
    $13::text[]) with ordinality as asked (key, slot, turn, seen, outcome, again_at, reason, error, nth)
),
found as materialized (
  select a.nth, a.turn as asked_turn, a.seen, a.outcome, a.again_at, a.reason, a.error, e.*
  from claim cross join (select * from asked order by key collate "C", slot) as a cross join lateral (
    select e.key, e.slot, e.grp, e.turn, e.due_at, e.tally, e.payload, e.after_due_at, e.after_tally, e.after_payload, e.after_since,
      e.attempt, e.state
    from headrace.entry e
    where e.pool = $1 and e.key = a.key and e.slot = a.slot and e.state <> 'fired'
      and e.partition = any (claim.partitions)
    for update
  ) as e
),
clock as materialized (
  select now, throttle_ms, now + throttle_ms as free_at
  from (select headrace.now_ms() as now from (select count(*) from found) as locked) as clock
    join headrace.pool on id = $1
),
decided as materialized (
  select f.*, now, free_at, throttle_ms,
    greatest(f.after_due_at, case when f.after_due_at is not null then free_at end) as after_due,
    greatest(f.again_at, case when f.outcome = 'retry' then now else free_at end) as own_due,
    case
      when f.outcome = 'cancel' then :settle.remove
      when f.outcome = 'retry' then :settle.retry
      when f.tally > f.seen then :settle.repeat
      when f.after_due_at is not null
        and (f.outcome <> 'again' or greatest(f.after_due_at, free_at) <= greatest(f.again_at, free_at)) then :settle.promote
      when f.outcome = 'again' then :settle.again
      when f.outcome = 'dead' then :settle.die
      when throttle_ms > 0 then :settle.rest
      else :settle.remove
    end as step
  from found f cross join clock
  where f.turn = f.asked_turn and f.state = 'live'
),
removed as (
  delete from headrace.entry e using decided d
  where d.step = :settle.remove and e.pool = $1 and e.key = d.key and e.slot = d.slot
),
renewed as (
  update headrace.entry e set
    turn = nextval('headrace.turn'),
    due_at = case d.step when :settle.retry then d.own_due when :settle.repeat then d.free_at when :settle.promote then d.after_due when :settle.again then d.own_due
      else e.due_at end,
    tally = case d.step when :settle.retry then d.tally when :settle.repeat then d.tally - d.seen when :settle.promote then d.after_tally else 0 end,
    payload = case d.step when :settle.promote then d.after_payload when :settle.rest then null else e.payload end,
    after_due_at = case when d.step = :settle.promote and d.outcome = 'again' then d.own_due
      when d.step = :settle.promote then null when d.step in (:settle.repeat, :settle.again) then d.after_due else e.after_due_at end,
    after_tally = case when d.step = :settle.promote and d.outcome = 'again' then 0
      when d.step = :settle.promote then null else e.after_tally end,
    after_payload = case when d.step = :settle.promote and d.outcome = 'again' then d.payload
      when d.step = :settle.promote then null else e.after_payload end,
    since = case d.step when :settle.retry then e.since when :settle.promote then d.after_since end,
    after_since = case when d.step <> :settle.promote then e.after_since end,
    attempt = case d.step when :settle.retry then d.attempt + 1 when :settle.die then d.attempt + 1 else 0 end,
    crashes = null,
    state = case d.step when :settle.die then 'dead' when :settle.rest then 'fired' else 'live' end,
    until = case when d.step <> :settle.retry and d.throttle_ms > 0 then d.free_at else e.until end,
    failing = case when d.step = :settle.retry then e.failing else d.outcome = 'dead' end,
    -- Of what is done there is no error.
    last_error = d.error
  from decided d
  where d.step <> :settle.remove and e.pool = $1 and e.key = d.key and e.slot = d.slot
  returning d.nth, e.due_at, e.state
),
buried as (
  insert into headrace.death (pool, slot, seen, died_at, key, grp, payload, reason, error)
  select $1, d.slot, d.seen, d.now, d.key, d.grp, d.payload, d.reason, d.error
  from decided d where d.outcome = 'dead' order by d.nth
)
select
  array_agg(nth) filter (where is_answered) as nths,
  array_agg(result) filter (where is_answered) as results,
  array_agg(next_due_at) filter (where is_answered) as next_due_ats,
  array_agg(step) filter (where is_answered) as steps
from (
  select answer.*, result <> :result.settled or next_due_at is not null as is_answered
  from (
    select a.nth, d.step,
      case
        when d.nth is not null then :result.settled
        when o.turn = a.turn and o.state = 'live' then :result.refused
        else :result.gone
      end as result,
      case
        when d.nth is not null then case when r.state = 'live' then r.due_at end
        when f.nth is not null then case when f.state = 'live' then f.due_at end
        when o.turn <> a.turn and o.state = 'live' then o.due_at
      end as next_due_at
    from asked a
      left join found f on f.nth = a.nth
      left join decided d on d.nth = a.nth
      left join renewed r on r.nth = a.nth
      :not_claimed
      cross join (select headrace.in_time(1000, (select count(*) from found))) as bound
  ) as answer
) as answered

-- name: not_claimed
-- No query but a part of a settle and a mark: the entry that is asked for, where its fence is not the claim's. It is gone all
-- the same if its turn is another one by now.
left join lateral (
  select o.turn, o.due_at, o.state
  from headrace.entry o cross join claim
  where f.nth is null and o.pool = $1 and o.key = a.key and o.slot = a.slot and o.state <> 'fired'
    and o.partition <> all (claim.partitions)
  limit 1
) as o on true

-- name: asked_done
-- No query but a part: what is asked of runs that are done, and whether they may go, which they may not where keys rest.
asked as materialized (
  select * from unnest($6::tid[], $7::bigint[], $8::integer[]) with ordinality as asked (place, turn, seen, nth)
),
allowed as materialized (
  select throttle_ms = 0 as is_allowed from claim cross join headrace.pool where id = $1
),

-- name: as_taken
-- No query but a part: the entry e is at the place where a take met it, and as it was: nobody has put since, and nothing
-- waits after it. A turn is never given twice, so that no other run is met there. Written so that no index is thought of.
(select is_allowed from allowed) and e.ctid = any (array(select place from asked))
and ((e.turn, e.tally) in (select turn, seen from asked)) is true
and e.pool is not distinct from $1 and e.state is not distinct from 'live' and e.after_due_at is null
and e.partition = any ((select partitions from claim)::integer[])

-- name: left_done
-- No query but a part: the numbers of those that are left, if any are.
select case when (select count(*) from gone) < (select count(*) from asked)
    then array(select nth from asked where turn not in (select turn from gone) order by nth) end as nths,
  headrace.in_time(1000, (select count(*) from gone)) as bound

-- name: settle_done
-- The same of runs that are done, where nothing is left of them: they go, found by the places where a take met them. Locks:
-- the fences of the claim (shared), then those entries, in the order of their places. Who locks in another order, or for
-- long, fails it after a millisecond: settle_free is for that.
-- Index: none. Planned each time, by the size that the table has then.
with
:claimed(share)
:asked_done
hasty as materialized (select set_config('lock_timeout', '1ms', true) from allowed),
gone as (
  delete from headrace.entry e
  where exists (select from hasty) and
    :as_taken
  returning e.turn
)
:left_done

-- name: settle_free
-- The same, but of those entries that nobody else holds: it waits for none of them. A third slower.
with
:claimed(share)
:asked_done
free as materialized (
  select e.ctid as place
  from headrace.entry e
  where
    :as_taken
  for update skip locked
),
gone as (delete from headrace.entry where ctid = any (array(select place from free)) returning turn)
:left_done
