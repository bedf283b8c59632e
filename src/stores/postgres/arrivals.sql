-- Puts and appends of users' own transactions: they arrive as rows, and are folded when they are committed.

-- name: name_transaction
-- In the user's transaction, before the insert. Outside of one the name is gone when the statement has ended, and the insert
-- is refused; so is an insert that a COMMIT or ROLLBACK has overtaken.
select set_config('headrace_put.transaction', $1::text, true)

-- name: arrive_puts
-- In the user's transaction. No lock that anybody waits for. Columns as of a put. In mode each a put without a time has the slot of
-- now. The last array: due so long after now. The last value is the name of the transaction.
insert into headrace.arrival (pool, at, key_hash, partition, lane, rule, key, grp, payload, longest_wait, made_at)
select $1::integer, coalesce(asked.at, $14::bigint, clock.now + asked.in_ms, case when $2::boolean then clock.now end), asked.key_hash,
  coalesce(asked.partition, asked.key_hash % $13::integer), coalesce(asked.lane, $11::smallint),
  (coalesce(asked.note, $12::integer) & :note.rules) / :note.rule, asked.key, asked.grp, asked.payload, asked.longest_wait,
  clock.now
from (select headrace.now_ms() as now offset 0) as clock cross join unnest($3::text[], $4::bigint[],
    string_to_array($5, e'\x1f', ''), $6::smallint[], $7::text[], $8::integer[], $9::integer[], $10::integer[],
    $15::bigint[], $16::bigint[]) with ordinality
  as asked (key, at, payload, lane, grp, partition, key_hash, note, longest_wait, in_ms, nth)
where headrace.in_transaction($17::text) and headrace.in_life(':life')
order by asked.nth

-- name: arrive_events
-- In the user's transaction. No lock that anybody waits for. The last value is the name of the transaction.
insert into headrace.event_arrival (topic, partition, event_id, key, value, headers)
select $1::integer, asked.partition, asked.id, asked.key, asked.value, asked.headers
from unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::text[]) with ordinality
  as asked (partition, id, key, value, headers, nth)
where headrace.in_transaction($7::text) and headrace.in_life(':life')
order by asked.nth

-- name: fold_puts
-- Locks: the fences of the claim (shared), arrivals, entries by (key, slot). Index: the primary keys.
-- Of each entry the first arrival and those that replace it, as src/pool/fold.ts says; what is behind them comes with the
-- next fold, in its order. One whose payload is no JSON of at most $8 bytes becomes the record of a death. One written
-- past the library may not say when it was made; it replaces none.
with
:claimed(share)
arrived as materialized (
  select a.*
  from held h cross join lateral (
    select a.* from headrace.arrival a
    where a.pool = $1::integer and a.partition = h.partition::smallint
    order by a.id
    limit $6::bigint
  ) as a
),
-- `since`: since when the first that names a longest wait waits, if each replaces the one before.
lined as (
  select arrived.*, min(made_at) filter (where longest_wait is not null) over line as since
  from (select *, case when $7::boolean then at end as slot from arrived) as arrived
  window line as (partition by key, slot order by id)
),
parted as (
  select lined.*, rule * :note.rule <> :rule.replace or coalesce(
      lag(greatest(least(coalesce(at, made_at), since + longest_wait), made_at)) over line <= made_at, true
    ) as is_apart
  from lined window line as (partition by key, slot order by id)
),
first as materialized (
  select f.*, headrace.is_json(f.payload, $8::integer) as is_valid
  from (
    select *, count(*) filter (where is_apart) over (partition by key, slot order by id) as part from parted
  ) as f
  where f.part = 1
),
gone as (
  delete from headrace.arrival a using first f
  where a.pool = $1::integer and a.partition = f.partition and a.id = f.id
  returning a.id
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from gone) as locked),
put as (
  :new_entry
  from clock cross join (
    select distinct on (key, slot) key, slot, at, payload, longest_wait, rule * :note.rule as note, key_hash,
      first_value(partition) over line as partition, first_value(lane) over line as lane, first_value(grp) over line as grp,
      coalesce(since, case when longest_wait is not null then (select now from clock) end) as since
    from first join gone using (id)
    where is_valid
    window line as (partition by key, slot order by id)
    order by key, slot, id desc
  ) as asked
  :merge
),
refused as (
  insert into headrace.death (pool, slot, seen, died_at, key, grp, reason, error)
  select $1::integer, case when $7::boolean then f.at else :slot.none end, 1, clock.now, f.key, f.grp,
    'invalid_payload', format('the payload has %s bytes and is no JSON of at most %s: %s', octet_length(f.payload), $8::integer,
      left(f.payload, 100))
  from clock cross join first f join gone on gone.id = f.id
  where not f.is_valid
  order by f.id
  returning key
)
select (select count(*) from gone) as folded,
  (select count(*) from arrived) > (select count(*) from gone)
    or exists (select from arrived group by partition having count(*) >= $6::bigint) as more,
  (select min(due_at) from put where note & :note.steps not in (:put.kept, :put.keptFired)) as first_due_at,
  array(select distinct due_at from put where note & :note.rules = :rule.replace and due_at > (select now from clock)) as postponable,
  coalesce((select array_agg(partition) from held), '{}') as held,
  (select count(*) from refused) as refused, (select min(key) from refused) as refused_key
where headrace.in_time(1000, (select count(*) from put))

-- name: fold_events
-- Locks: arrivals in their order, then heads, ascending. Index: the primary keys. Those whose value or headers are no JSON of
-- at most $3 bytes are dropped.
with arrived as materialized (
  select a.* from headrace.event_arrival a where a.topic = $1::integer order by a.id limit $2::bigint for update
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from arrived) as locked),
placed as materialized (
  select arrived.*, row_number() over (partition by partition order by id) - 1 as place from arrived
  where headrace.is_json(value, $3::integer) and headrace.is_json(headers, $3::integer)
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
  delete from headrace.event_arrival a using arrived where a.topic = $1::integer and a.id = arrived.id
)
select count(*) as folded, count(*) - (select count(*) from placed) as refused,
  min(key) filter (where id not in (select id from placed)) as refused_key
from arrived having headrace.in_time(1000, (select count(*) from head))

-- name: unfolded
-- The first pools in which puts wait and on which no member works, with how many, up to $1. Index: the primary key.
select p.name, (
    select count(*)::integer from (select from headrace.arrival a where a.pool = p.id limit $1::bigint) as a
  ) as count
from headrace.pool p
where exists (select from headrace.arrival a where a.pool = p.id)
  and not exists (select from headrace.member m where 'pool/' || p.name = any (m.serves))
order by p.name
limit 20
