-- The log: topics, heads, events.

-- name: open_topic
-- Lock: the topic's row, if it exists. A retention that is not named is left.
with opened as (
  insert into headrace.topic as t (name, partitions, retention_ms)
  select $1, $2, coalesce($3::bigint, $4::bigint) where headrace.in_life(':life')
  on conflict (name) do update set retention_ms = coalesce($3::bigint, t.retention_ms)
    where t.partitions = excluded.partitions
  returning id
)
insert into headrace.head (topic, partition, oldest, next)
select id, partition, 0, 0 from opened cross join generate_series(0, $2::integer - 1) as p (partition)
on conflict do nothing

-- name: find_topic
select id, name, partitions, retention_ms from headrace.topic where name = $1

-- name: topics
select t.id, t.name, t.partitions, t.retention_ms, h.partition, h.oldest, h.next
from headrace.topic t join headrace.head h on h.topic = t.id
where $1::text is null or t.name = $1
order by t.id, h.partition

-- name: append
-- Locks: the request's row, then heads, ascending, until commit. Index: the primary keys.
-- Answers nothing when the id is known; else the time and, per partition, the first offset.
with clock as materialized (
  select headrace.now_ms() as now, set_config('lock_timeout', '4500ms', true)
),
claim as (
  insert into headrace.request (scope, id, round, fingerprint, attempt, until)
  select $1::integer, $2, 0, '', $2, clock.now + $3::bigint from clock
  on conflict do nothing
  returning 1
),
asked as materialized (
  select asked.*, row_number() over (partition by partition order by nth) - 1 as place
  from claim cross join unnest($4::integer[], $5::text[], $6::text[], $7::text[], $8::text[]) with ordinality
    as asked (partition, id, key, value, headers, nth)
),
amount as materialized (select partition, count(*) as events from asked group by partition),
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
  select $1::integer, asked.partition, head.next + asked.place, clock.now, asked.id, asked.key, asked.value, asked.headers
  from asked join head on head.partition = asked.partition cross join clock
)
insert into headrace.answer (scope, id, round, now, notes, numbers, tallies)
select $1::integer, $2, 0, clock.now, (select array_agg(partition) from head), (select array_agg(next) from head), '{}'
from clock cross join claim
where headrace.in_time(5000, (select count(*) from head))
returning now, notes, numbers

-- name: read
-- Events of each position, on one snapshot. Heads hold how many there are, so that no more are read than wanted.
-- Index: the primary keys. A row without an event holds the bounds of a partition that has none from there on. One event
-- more is read than fits, which shows that there is more. A sum of bigints is numeric: left so, the end of the range
-- would be no bound of the index, and a page would cost as much as all that is behind it. The limit of each position says
-- nothing that the range does not: from it the planner knows that few are read, and compiles nothing for millions.
with wanted as materialized (
  select p.nth, p.partition, p.position, h.oldest, h.next,
    greatest(h.next - p.position, 0) as available,
    (sum(greatest(h.next - p.position, 0)) over (order by p.nth))::bigint as upto
  from unnest($2::integer[], $3::bigint[]) with ordinality as p (partition, position, nth)
    join headrace.head h on h.topic = $1 and h.partition = p.partition
),
page as (
  select w.nth, w.partition, w.oldest, w.next, e.event_offset, e.time, e.id, e.key, e.value, e.headers,
    sum(octet_length(e.value))
      over (order by w.nth, e.event_offset rows between unbounded preceding and 2 preceding) as bytes
  from wanted w left join lateral (
    select * from headrace.event e
    where e.topic = $1 and e.partition = w.partition and e.event_offset >= w.position
      and e.event_offset < w.position + least(w.available, greatest($4::bigint + 1 - (w.upto - w.available), 0))
      and w.position >= w.oldest
    order by e.event_offset
    limit $4::bigint + 1
  ) as e on true
)
select partition, oldest, next as head, event_offset, time, id, key, value, headers
from page where bytes is null or bytes <= $5::float8
order by nth, event_offset

-- name: trim
-- Locks: the heads that have something to lose, ascending. Index: the primary keys.
with clock as materialized (
  select headrace.now_ms() - t.retention_ms as before from headrace.topic t where t.id = $1
),
head as materialized (
  select h.partition, h.oldest
  from clock cross join headrace.head h
  where h.topic = $1 and exists (
    select from headrace.event e
    where e.topic = $1 and e.partition = h.partition and e.event_offset = h.oldest and e.time < clock.before
  )
  order by h.partition
  for no key update of h
),
old as materialized (
  select first.partition, first.event_offset
  from (
      select head.partition, e.event_offset,
        bool_and(e.time < clock.before) over (partition by head.partition order by e.event_offset) as old
      from clock cross join head cross join lateral (
        select e.event_offset, e.time from headrace.event e
        where e.topic = $1 and e.partition = head.partition and e.event_offset >= head.oldest
        order by e.event_offset
        limit $2::bigint
      ) as e
    ) as first
  where first.old
  order by first.partition, first.event_offset
  limit $2::bigint
),
removed as (
  delete from headrace.event e using (
    select partition, min(event_offset) as first, max(event_offset) as last from old group by partition
  ) as o
  where e.topic = $1 and e.partition = o.partition and e.event_offset between o.first and o.last
  returning e.partition, e.event_offset
),
lowered as (
  update headrace.head h set oldest = greatest(h.oldest, r.last + 1)
  from (select partition, max(event_offset) as last from removed group by partition) as r
  where h.topic = $1 and h.partition = r.partition
)
select count(*) as removed from removed where headrace.in_life(':life')
