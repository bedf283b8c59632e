-- name: move
-- Due entries become events, and are settled as done, in one statement: all of it or nothing. Locks: the fences of the
-- claim (excluding each other's moves, so that due order holds), entries in due order, heads ascending.
-- Index: entry_due, one range per partition and lane; the primary keys.
-- A range is read from $12, up to $4 rows. The rows up to the least end of a range that was cut are the earliest of all.
-- An entry that another transaction holds is passed over, and so are the later ones of its key. The first of all, when it
-- is overdue for a while, is waited for: a key that is put without end would be passed over without end.
with held as materialized (
  select f.partition
  from (
      select set_config('lock_timeout', '900ms', true),
        set_config('headrace_audit.claim', json_build_object('resource', $8::text, 'owner', $9::text,
          'partitions', $6::integer[], 'epochs', $7::bigint[])::text, true)
    ) as bound
    cross join unnest($6::integer[], $7::bigint[]) as h (partition, epoch)
    join headrace.fence f on f.resource = $8 and f.partition = h.partition and f.epoch = h.epoch and f.owner = $9
  order by f.partition
  for no key update of f
),
clock as materialized (
  select headrace.now_ms() as now, (select remember_ms from headrace.pool where id = $1::integer) as remember_ms
  from (select count(*) from held) as locked
),
ranges as materialized (
  select h.partition::smallint as partition, l.lane::smallint as lane
  from held h cross join generate_series(0, 2) as l (lane)
),
candidate as materialized (
  select r.partition, r.lane, e.key, e.slot, e.due_at
  from clock cross join ranges r cross join lateral (
    select e.key, e.slot, e.due_at
    from headrace.entry e
    where e.pool = $1::integer and e.partition = r.partition and e.lane = r.lane and e.state = 'live'
      and e.due_at >= $12::bigint and e.due_at <= clock.now
    order by e.due_at
    limit $4::bigint
  ) as e
),
filled as materialized (
  select partition, lane, count(*) as rows, max(due_at) as last from candidate group by partition, lane
),
waited as materialized (
  select headrace.wait_for($1::integer, c.key, c.slot)
  from (select c.* from candidate c order by c.due_at, c.key, c.slot limit 1) as c cross join clock
  where c.due_at between clock.now - 2000 and clock.now - 250
),
-- Locked one by one, in order, until there are enough. The state is written so that no index of due times seems to serve.
locked as materialized (
  select e.*, e.key_hash % $3::integer as target,
    case
      when e.after_due_at is not null then 'goes on'
      when $11::boolean and clock.remember_ms > 0 then 'is remembered'
      else 'is gone'
    end as fate
  from (select count(*) from waited) as waited cross join clock cross join (
      select key, slot from candidate
      where due_at <= coalesce((select min(last) from filled where rows >= $4::bigint), due_at)
      order by due_at, key, slot
    ) as c cross join lateral (
      select e.key, e.slot, e.due_at, e.payload, e.key_hash, e.after_due_at
      from headrace.entry e
      where e.pool = $1::integer and e.key = c.key and e.slot = c.slot and e.state not in ('dead', 'fired')
        and e.due_at <= clock.now
      for update skip locked
    ) as e
  limit $5::bigint
),
-- Of each key the first candidate that is not locked.
skipped as materialized (
  select distinct on (c.key) c.key, c.due_at, c.slot
  from candidate c left join locked l on l.key = c.key and l.slot = c.slot
  where l.key is null
  order by c.key, c.due_at, c.slot
),
due as materialized (
  select l.* from locked l left join skipped s on s.key = l.key
  where s.key is null or (s.due_at, s.slot) > (l.due_at, l.slot)
),
amount as materialized (select target, count(*) as events from due group by target),
head as materialized (
  select h.partition, h.next
  from headrace.head h join amount on amount.target = h.partition
  where h.topic = $2::integer
  order by h.partition
  for no key update of h
),
advanced as (
  update headrace.head h set next = head.next + amount.events
  from head join amount on amount.target = head.partition
  where h.topic = $2::integer and h.partition = head.partition
),
appended as (
  insert into headrace.event (topic, partition, event_offset, time, id, key, value, headers)
  select $2::integer, d.target, head.next + d.nth, d.now, $10 || '/' || d.key || '/' || d.at, d.key,
    '{"item":' || to_json(d.key) || ',"at":"' || d.at || '"' || coalesce(',"payload":' || d.payload, '') || '}',
    '{"lateMs":' || (d.now - d.due_at) || '}'
  from (
      select due.*, clock.now, headrace.iso(case when $11::boolean then due.slot else due.due_at end) as at,
        row_number() over (partition by due.target order by due.due_at, due.key, due.slot) - 1 as nth
      from due cross join clock
    ) as d
    join head on head.partition = d.target
),
removed as (
  delete from headrace.entry e using due d
  where d.fate = 'is gone' and e.pool = $1::integer and e.key = d.key and e.slot = d.slot
),
remembered as (
  update headrace.entry e set state = 'fired', until = clock.now + clock.remember_ms, payload = null
  from due d, clock
  where d.fate = 'is remembered' and e.pool = $1::integer and e.key = d.key and e.slot = d.slot
),
promoted as (
  update headrace.entry e set turn = nextval('headrace.turn'), due_at = greatest(e.after_due_at, clock.now),
    tally = e.after_tally, payload = e.after_payload, after_due_at = null, after_tally = null, after_payload = null,
    attempt = 0, failing = false
  from due d, clock
  where d.fate = 'goes on' and e.pool = $1::integer and e.key = d.key and e.slot = d.slot
  returning e.due_at
),
-- Of each range: the first candidate that is left, or the row behind them.
passed as materialized (
  select c.partition, c.lane, min(c.due_at) as due_at
  from candidate c left join due d on d.key = c.key and d.slot = c.slot
  where d.key is null
  group by c.partition, c.lane
),
waiting as (
  select coalesce(passed.due_at, (
      select e.due_at from headrace.entry e
      where passed.due_at is null and e.pool = $1::integer and e.partition = r.partition and e.lane = r.lane
        and e.state = 'live' and e.due_at >= $12::bigint
      order by e.due_at
      offset coalesce(filled.rows, 0)
      limit 1
    )) as due_at
  from ranges r
    left join passed on passed.partition = r.partition and passed.lane = r.lane
    left join filled on filled.partition = r.partition and filled.lane = r.lane
)
select clock.now,
  coalesce((select array_agg(clock.now - due_at order by due_at) from due), '{}') as lateness_ms,
  (select min(due_at) from (select due_at from waiting union all select due_at from promoted) as next) as next_due_at,
  coalesce((select array_agg(partition) from held), '{}') as held
from clock
where headrace.in_time(1000, (select count(*) from head))
