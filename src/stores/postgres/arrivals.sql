-- Puts and appends of users' own transactions: they arrive as rows, and are folded when they are committed.

-- name: arrive_puts
-- In the user's transaction. No lock that anybody waits for. Columns as of a put. In mode each a put without a time has the slot of now.
insert into headrace.arrival (pool, at, key_hash, partition, lane, rule, key, grp, payload, longest_wait)
select $1::integer, coalesce(asked.at, $14::bigint, case when $2::boolean then headrace.now_ms() end), asked.key_hash,
  coalesce(asked.partition, asked.key_hash % $13::integer), coalesce(asked.lane, $11::smallint),
  coalesce(asked.note, $12::integer) / 8 % 8, asked.key, asked.grp, asked.payload, asked.longest_wait
from unnest($3::text[], $4::bigint[], string_to_array($5, e'\x1f', ''), $6::smallint[], $7::text[], $8::integer[],
  $9::integer[], $10::integer[], $15::bigint[]) with ordinality
  as asked (key, at, payload, lane, grp, partition, key_hash, note, longest_wait, nth)
order by asked.nth

-- name: arrive_events
-- In the user's transaction. No lock that anybody waits for.
insert into headrace.event_arrival (topic, partition, event_id, key, value, headers)
select $1::integer, asked.partition, asked.id, asked.key, asked.value, asked.headers
from unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::text[]) with ordinality
  as asked (partition, id, key, value, headers, nth)
order by asked.nth

-- name: fold_puts
-- Locks: the fences of the claim (shared), arrivals, entries by (key, slot). Index: the primary keys.
-- Of each entry the first arrival: those behind it come with the next fold, in their order.
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
arrived as materialized (
  select a.*
  from held h cross join lateral (
    select a.* from headrace.arrival a
    where a.pool = $1::integer and a.partition = h.partition::smallint
    order by a.id
    limit $6::bigint
  ) as a
),
first as materialized (
  select distinct on (key, slot) arrived.*
  from (select *, case when $7::boolean then at end as slot from arrived) as arrived
  order by key, slot, id
),
gone as (
  delete from headrace.arrival a using first f
  where a.pool = $1::integer and a.partition = f.partition and a.id = f.id
  returning a.id
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from gone) as locked),
put as (
  insert into headrace.entry as e (pool, key, slot, turn, due_at, enqueued_at, put_at, tally, attempt, note, key_hash,
    partition, lane, failing, state, grp, payload, since, after_since)
  select $1::integer, f.key, case when $7::boolean then f.at else -9007199254740991 end, nextval('headrace.turn'),
    least(greatest(f.at, clock.now), clock.now + f.longest_wait), clock.now, clock.now, 1, 0, f.rule * 8, f.key_hash, f.partition, f.lane, false, 'live',
    f.grp, f.payload, case when f.longest_wait is not null then clock.now end, f.longest_wait
  from clock cross join (select first.* from first join gone on gone.id = first.id order by key, at) as f
  :merge
)
select (select count(*) from gone) as folded,
  (select count(*) from arrived) > (select count(*) from gone)
    or exists (select from arrived group by partition having count(*) >= $6::bigint) as more,
  (select min(due_at) from put where note & 7 not in (4, 7)) as first_due_at,
  coalesce((select array_agg(partition) from held), '{}') as held
where headrace.in_time(1000, (select count(*) from put))

-- name: fold_events
-- Locks: arrivals in their order, then heads, ascending. Index: the primary keys.
with arrived as materialized (
  select a.* from headrace.event_arrival a where a.topic = $1::integer order by a.id limit $2::bigint for update
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from arrived) as locked),
placed as materialized (
  select arrived.*, row_number() over (partition by partition order by id) - 1 as place from arrived
),
amount as materialized (select partition, count(*) as events from placed group by partition),
head as materialized (
  select h.partition, h.next, amount.events
  from headrace.head h join amount on amount.partition = h.partition
  where h.topic = $1::integer
  order by h.partition
  for no key update of h
),
advanced as (
  update headrace.head h set next = head.next + head.events
  from head where h.topic = $1::integer and h.partition = head.partition
),
appended as (
  insert into headrace.event (topic, partition, event_offset, time, id, key, value, headers)
  select $1::integer, placed.partition, head.next + placed.place, clock.now, placed.event_id, placed.key, placed.value,
    placed.headers
  from placed join head on head.partition = placed.partition cross join clock
),
gone as (
  delete from headrace.event_arrival a using placed where a.topic = $1::integer and a.id = placed.id
)
select count(*) as folded from arrived having headrace.in_time(1000, (select count(*) from head))
