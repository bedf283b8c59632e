-- name: move
-- Due entries become events, and are settled as done, in one statement: all of it or nothing. Locks: the fences of the
-- claim (excluding each other's moves, so that due order holds), entries in due order, heads ascending.
-- Index: entry_due, one range per partition and lane; the primary keys.
-- A range is read from $12 (null: since ten seconds) up to $8 rows, without the keys of $13. The rows up to the least end
-- of a range that was cut are the earliest of all. What another transaction holds is passed over, and so are the later
-- entries of its key; the one that $14 and $15 name is waited for, before any other is locked.
-- Rows are compared by their number, and sets of numbers by `not in`, which is a hash table however few are expected.
with
:claimed(no key update)
clock as materialized (
  select now, coalesce($12::bigint, now - 10000) as due_from, throttle_ms,
    case when $11::boolean then remember_ms else throttle_ms end as kept_ms
  from (select headrace.now_ms() as now from (select count(*) from held) as locked) as clock
    left join headrace.pool on id = $1::integer
),
ranges as materialized (
  select h.partition::smallint as partition, l.lane::smallint as lane
  from held h cross join generate_series(0, :lane.last) as l (lane)
),
candidate as materialized (
  select r.partition, r.lane, e.key, e.slot, e.due_at, row_number() over (order by e.due_at, e.key, e.slot) as nth
  from clock cross join ranges r cross join lateral (
    select e.key, e.slot, e.due_at
    from headrace.entry e
    where e.pool = $1::integer and e.partition = r.partition and e.lane = r.lane and e.state = 'live'
      and e.due_at >= clock.due_from and e.due_at <= clock.now and e.key <> all ($13::text[])
    order by e.due_at
    limit $8::bigint
  ) as e
),
filled as materialized (
  select partition, lane, count(*) as rows, max(due_at) as last from candidate group by partition, lane
),
tried as materialized (
  select key, slot, due_at, nth from candidate
  where due_at <= coalesce((select min(last) from filled where rows >= $8::bigint), due_at)
),
waited as materialized (
  select headrace.wait_for($1::integer, $14, $15::bigint) from clock where $14::text is not null
),
-- Locked one by one, in order, until there are enough. The state is written so that no index of due times seems to serve.
locked as materialized (
  select c.nth, e.*, e.key_hash % $7::integer as target,
    case
      when e.after_due_at is not null then 'goes on'
      when clock.kept_ms > 0 then 'is remembered'
      else 'is gone'
    end as fate
  from (select count(*) from waited) as waited cross join clock
    cross join (select * from tried order by nth) as c cross join lateral (
      select e.key, e.slot, e.due_at, e.payload, e.key_hash, e.after_due_at
      from headrace.entry e
      where e.pool = $1::integer and e.key = c.key and e.slot = c.slot and e.state not in ('dead', 'fired')
        and e.due_at <= clock.now
      for update skip locked
    ) as e
  limit $9::bigint
),
passed_over as materialized (
  select nth, key, slot, due_at from tried
  where nth not in (select nth from locked)
    and nth <= (select case when count(*) < $9::bigint then 9223372036854775807 else max(nth) end from locked)
),
due as materialized (
  select l.* from locked l
  where not exists (select from passed_over p where p.key = l.key and p.nth < l.nth)
),
amount as materialized (select target, count(*) as events from due group by target),
head as materialized (
  select h.partition, h.next
  from headrace.head h join amount on amount.target = h.partition
  where h.topic = $6::integer
  order by h.partition
  for no key update of h
),
advanced as (
  update headrace.head h set next = head.next + amount.events
  from head join amount on amount.target = head.partition
  where h.topic = $6::integer and h.partition = head.partition
),
appended as (
  insert into headrace.event (topic, partition, event_offset, time, id, key, value, headers)
  select $6::integer, d.target, head.next + d.place, d.now, $10 || '/' || d.key || '/' || d.at, d.key,
    '{"item":' || to_json(d.key) || ',"at":"' || d.at || '"' || coalesce(',"payload":' || d.payload, '') || '}',
    '{"lateMs":' || (d.now - d.due_at) || '}'
  from (
      select due.*, clock.now, headrace.iso(case when $11::boolean then due.slot else due.due_at end) as at,
        row_number() over (partition by due.target order by due.nth) - 1 as place
      from due cross join clock
    ) as d
    join head on head.partition = d.target
),
removed as (
  delete from headrace.entry e using due d
  where d.fate = 'is gone' and e.pool = $1::integer and e.key = d.key and e.slot = d.slot
),
remembered as (
  update headrace.entry e set state = 'fired', until = clock.now + clock.kept_ms, payload = null, crashes = null
  from due d, clock
  where d.fate = 'is remembered' and e.pool = $1::integer and e.key = d.key and e.slot = d.slot
),
promoted as (
  update headrace.entry e set turn = nextval('headrace.turn'), due_at = greatest(e.after_due_at, clock.now + clock.throttle_ms),
    until = case when clock.throttle_ms > 0 then clock.now + clock.throttle_ms else e.until end,
    tally = e.after_tally, payload = e.after_payload, since = e.after_since, after_since = null, after_due_at = null, after_tally = null, after_payload = null,
    attempt = 0, crashes = null, failing = false, last_error = null
  from due d, clock
  where d.fate = 'goes on' and e.pool = $1::integer and e.key = d.key and e.slot = d.slot
  returning e.due_at
),
-- Of each range: the first candidate that is left; more of its kind, where it was cut; the first that is not due yet.
remaining as materialized (
  select partition, lane, min(due_at) as due_at from candidate where nth not in (select nth from due) group by partition, lane
),
waiting as (
  select coalesce(remaining.due_at, case when filled.rows >= $8::bigint then filled.last end, (
      select e.due_at from headrace.entry e
      where e.pool = $1::integer and e.partition = r.partition and e.lane = r.lane and e.state = 'live'
        and e.due_at > clock.now
      order by e.due_at
      limit 1
    )) as due_at
  from clock cross join ranges r
    left join remaining on remaining.partition = r.partition and remaining.lane = r.lane
    left join filled on filled.partition = r.partition and filled.lane = r.lane
),
-- Some of those passed over that are overdue for a while.
overdue as materialized (
  select key, slot from passed_over cross join clock where due_at <= clock.now - 250 order by nth limit 16
)
select clock.now,
  coalesce((select array_agg(clock.now - due_at order by due_at) from due), '{}') as lateness_ms,
  (select min(due_at) from (select due_at from waiting union all select due_at from promoted) as next) as next_due_at,
  coalesce((select array_agg(partition) from held), '{}') as held,
  array(select key from overdue) as passed_keys,
  array(select slot from overdue) as passed_slots,
  array(select distinct key from locked where nth not in (select nth from due) limit 100) as held_back
from clock
where headrace.in_time(1000, (select count(*) from head))
