-- Puts, and how a request that is made again is known.

-- name: new_entry
-- No query but a part of those that put: the columns of an entry that is new, of what is asked, by the clock. $1 is the pool;
-- $7: the pool is in mode each.
insert into headrace.entry as e (pool, key, slot, turn, due_at, enqueued_at, put_at, tally, attempt, note, key_hash,
  partition, lane, failing, state, grp, payload, since, after_since)
select $1::integer, asked.key, case when $7::boolean then coalesce(asked.at, clock.now) else :slot.none end,
  nextval('headrace.turn'), greatest(least(greatest(asked.at, clock.now), asked.since + asked.longest_wait), clock.now), clock.now,
  clock.now, 1, 0,
  asked.note, asked.key_hash, asked.partition, asked.lane, false, 'live', asked.grp, asked.payload,
  asked.since, asked.longest_wait

-- name: merge
-- No query but a part of those that put: the meaning of src/pool/merge.ts, for a row that exists. $1 is the pool.
-- What a put did is its step, in the last bits of `note`; codes.ts lists the steps.
-- `now` is read again under the lock of a row that exists. A due_at proposed below it means that the put is due now.
-- A put that names a longest wait proposes it as after_since, and as since now, or when the first of its arrivals was made.
-- A key without a slot rests until its `until`, if its pool is throttled; that stays whatever is put.
-- Steps are compared one by one, the usual ones first, since a list costs several times as much.
  on conflict (pool, key, slot) do update set
    (turn, due_at, enqueued_at, put_at, after_due_at, tally, after_tally, attempt, note, partition, lane,
      failing, state, grp, payload, after_payload, since, after_since, last_error) = (
      select
        case when step = :put.replaced or step = :put.recreated then excluded.turn
          when e.turn < (select first_turn from headrace.generation) then excluded.turn else e.turn end,
        case
          when step = :put.replaced or step = :put.recreated or step = :put.keptFired then asked_due
          when step = :put.merged and e.attempt = 0 then least(e.due_at, asked_due)
          else e.due_at
        end,
        case when step = :put.recreated then now else e.enqueued_at end,
        case when step = :put.kept or step = :put.keptFired then e.put_at else now end,
        case
          when step = :put.recreated then null
          when step = :put.mergedAfter then least(e.after_due_at, asked_due)
          when step = :put.replacedAfter then asked_due
          else e.after_due_at
        end,
        case when step = :put.replaced or step = :put.recreated then 1 when step = :put.merged then e.tally + 1 when step = :put.keptFired then 0 else e.tally end,
        case
          when step = :put.recreated then null
          when step = :put.mergedAfter then coalesce(e.after_tally, 0) + 1
          when step = :put.replacedAfter then 1
          else e.after_tally
        end,
        case when step = :put.recreated then 0 else e.attempt end,
        excluded.note | step,
        case when step = :put.recreated then excluded.partition else e.partition end,
        case when step = :put.recreated then excluded.lane else e.lane end,
        case when step = :put.recreated then e.state = 'dead' else e.failing end,
        case when step = :put.recreated then 'live' else e.state end,
        case when step = :put.recreated then excluded.grp else e.grp end,
        case
          when step = :put.replaced or step = :put.recreated then excluded.payload
          when step = :put.merged then coalesce(excluded.payload, e.payload)
          else e.payload
        end,
        case
          when step = :put.recreated then null
          when step = :put.mergedAfter then coalesce(excluded.payload, e.after_payload)
          when step = :put.replacedAfter then excluded.payload
          else e.after_payload
        end,
        case when step = :put.replaced then coalesce(e.since, excluded.since) when step = :put.recreated then excluded.since else e.since end,
        case
          when step = :put.replacedAfter then coalesce(e.after_since, excluded.since)
          when step = :put.mergedAfter and e.after_due_at is null then excluded.since
          else e.after_since
        end,
        case when step = :put.recreated then null else e.last_error end
      from (
        select clock.now,
          greatest(case when excluded.after_since is null then excluded.due_at else
            least(excluded.due_at, excluded.after_since + coalesce(case
              when e.state <> 'live' then null
              when e.due_at > clock.now and e.attempt = 0 then e.since
              when e.after_due_at is not null then e.after_since
            end, clock.now)) end, clock.now, case when e.until > clock.now and e.slot = :slot.none then (
            select case when throttle_ms > 0 then e.until end from headrace.pool where id = $1::integer
          ) end) as asked_due,
          case
            when e.state = 'dead' then :put.recreated
            when e.state = 'fired' then case
              when e.until > clock.now and e.slot > :slot.none and (select remember_ms from headrace.pool where id = $1::integer) > 0 then :put.keptFired
              else :put.recreated
            end
            when excluded.note & :note.rules = :rule.keep then :put.kept
            when e.due_at > clock.now and e.attempt = 0 then case when excluded.note & :note.rules = :rule.replace then :put.replaced else :put.merged end
            when excluded.due_at <= clock.now then :put.merged
            when excluded.note & :note.rules = :rule.replace and e.after_due_at is not null then :put.replacedAfter
            else :put.mergedAfter
          end as step
        from (select headrace.now_ms() as now) as clock
        -- Keeps the step from being written out, and worked out, once for each column.
        offset 0
      ) as merged
    )
  returning e.note,
    case when e.after_due_at is not null and e.note & :note.steps in (:put.mergedAfter, :put.replacedAfter) then e.after_due_at else e.due_at end as due_at,
    case when e.after_due_at is not null and e.note & :note.steps in (:put.mergedAfter, :put.replacedAfter) then e.after_tally else e.tally end as tally

-- name: put
-- Locks: the request's row, then entries by (key, slot), each in the order of the batch. Index: the primary keys.
-- $21: due so long after the time of this statement, where no time is given.
-- A column that says nothing of its own is null: time $19, no payload, lane $16, the group and partition of the key, and
-- the note of the nth of all with rule $17. Payloads are joined by a character that no JSON holds.
-- Answers nothing when the id is known; else the time, by which those created are due, and what came of the others ($22:
-- of all, since a user's repeat need not hold the same puts): their notes, due times and tallies, one for all if they are
-- the same. Where all is the same, one note below zero stands for all.
-- Whoever has claimed round 0 has them all: what is left of a later round is of a request whose first is forgotten.
with clock as materialized (
  select headrace.now_ms() as now, set_config('lock_timeout', '4500ms', true)
),
claim as (
  insert into headrace.request as known (scope, id, round, fingerprint, attempt, until)
  select $1::integer, $2, $3::smallint, $4, $5, clock.now + $6::bigint from clock
  on conflict (scope, id, round) do update
    set fingerprint = excluded.fingerprint, attempt = excluded.attempt, until = excluded.until
    where known.until <= headrace.now_ms() or $3::smallint > 0
  returning 1
),
asked as (
  select key, coalesce(at, $19::bigint, clock.now + in_ms) as at, payload, grp, key_hash, longest_wait,
    case when longest_wait is not null then clock.now end as since, coalesce(lane, $16::smallint) as lane,
    coalesce(partition, key_hash % $18::integer) as partition, coalesce(note, (nth::integer - 1) * :note.place + $17::integer) as note
  from clock cross join unnest($8::text[], $9::bigint[], string_to_array($10, e'\x1f', ''), $11::smallint[], $12::text[],
    $13::integer[], $14::integer[], $15::integer[], $20::bigint[], $21::bigint[]) with ordinality
    as asked (key, at, payload, lane, grp, partition, key_hash, note, longest_wait, in_ms, nth)
  order by key collate "C", at
),
put as (
  :new_entry
  from clock cross join claim cross join asked
  :merge
),
noted as not materialized (select note, due_at, tally from put where note & :note.steps > :put.created or $22::boolean),
kept as (
  insert into headrace.answer (scope, id, round, now, notes, numbers, tallies)
  select $1::integer, $2, $3::smallint, clock.now, coalesce(answer.notes, '{}'), coalesce(answer.due_times, '{}'),
    coalesce(answer.tallies, '{}')
  from clock cross join claim cross join (
    select
      case when note is null then (select array_agg(note) from noted) else array[note] end as notes,
      case when due_at is null then (select array_agg(due_at) from noted) else array[due_at] end as due_times,
      case when tally is null then (select array_agg(tally) from noted) else array[tally] end as tallies
    from (
      select case when min(due_at) = max(due_at) then min(due_at) end as due_at,
        case when min(tally) = max(tally) then min(tally) end as tally,
        case
          when count(*) = cardinality($8::text[]) and min(note & :note.steps) = max(note & :note.steps) and min(due_at) = max(due_at)
            and min(tally) = max(tally) and not $22::boolean then -1 - min(note & :note.steps)
        end as note
      from noted
    ) as one
  ) as answer
  on conflict (scope, id, round) do update
    set now = excluded.now, notes = excluded.notes, numbers = excluded.numbers, tallies = excluded.tallies
  returning now, notes, numbers, tallies
)
select now, notes, numbers, tallies from kept where headrace.in_time(5000, cardinality(notes))

-- name: kept_answers
-- What a request was answered, round by round. Index: the primary keys.
select r.fingerprint, r.attempt, a.now, a.notes, a.numbers, a.tallies
from headrace.request r join headrace.answer a using (scope, id, round)
where r.scope = $1 and r.id = $2 and r.until > headrace.now_ms()
order by r.round

-- name: repeated_entries
-- Entries without a slot, which the transaction has locked. Index: the primary key.
select e.*, clock.now, p.throttle_ms
from (select headrace.now_ms() as now offset 0) as clock cross join headrace.pool p
  join headrace.entry e on e.pool = p.id and e.key = any ($2::text[]) and e.slot = :slot.none
where p.id = $1::integer

-- name: write_repeated
-- What repeated puts made of these entries, by src/pool/merge.ts. Index: the primary key.
update headrace.entry e set
  turn = case when w.is_renewed then nextval('headrace.turn') else e.turn end,
  due_at = w.due_at, tally = w.tally, payload = w.payload, since = w.since, after_due_at = w.after_due_at,
  after_tally = w.after_tally, after_payload = w.after_payload, after_since = w.after_since, put_at = w.put_at
from unnest($2::text[], $3::boolean[], $4::bigint[], $5::integer[], $6::text[], $7::bigint[], $8::bigint[], $9::integer[],
  $10::text[], $11::bigint[], $12::bigint[])
  as w (key, is_renewed, due_at, tally, payload, since, after_due_at, after_tally, after_payload, after_since, put_at)
where e.pool = $1::integer and e.key = w.key and e.slot = :slot.none

-- name: note_round
-- What a later round of a request was answered; what is left there is of a request whose first is forgotten.
with claim as (
  insert into headrace.request as known (scope, id, round, fingerprint, attempt, until)
  values ($1::integer, $2, $3::smallint, $4, $5, $7::bigint + $6::bigint)
  on conflict (scope, id, round) do update
    set fingerprint = excluded.fingerprint, attempt = excluded.attempt, until = excluded.until
),
kept as (
  insert into headrace.answer (scope, id, round, now, notes, numbers, tallies)
  values ($1::integer, $2, $3::smallint, $7::bigint, $8::integer[], $9::bigint[], $10::integer[])
  on conflict (scope, id, round) do update
    set now = excluded.now, notes = excluded.notes, numbers = excluded.numbers, tallies = excluded.tallies
  returning round
)
select from kept where headrace.in_time(5000, round)
