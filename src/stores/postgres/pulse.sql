-- What a member asks twice a second, each in one statement. Due times are read from where due-watermarks.ts says.

-- name: dues
-- No query but a part of the pulse: when the first entry of each pool is due. $1 to $3: pools, their partitions, and from
-- where each is read. No lock. Index: entry_due, one range per partition and lane.
dues as (
  select asked.pool, min(e.due_at) as next_due_at
  from clock cross join unnest($1::integer[], $2::smallint[], $3::bigint[]) as asked (pool, partition, due_from)
    cross join generate_series(0, :lane.last) as l (lane)
    left join lateral (
      select e.due_at from headrace.entry e
      where e.pool = asked.pool and e.partition = asked.partition and e.lane = l.lane::smallint and e.state = 'live'
        and e.due_at >= coalesce(asked.due_from, clock.now - 10000)
      order by e.due_at
      limit 1
    ) as e on true
  group by asked.pool
)

-- name: due_columns
-- No query but a part of the pulse. Arrivals are looked for only when there are any, and in the order of their index: an
-- emptied table that was not vacuumed yet is not read through.
array(select pool from dues order by pool) as due_pools,
array(select next_due_at from dues order by pool) as due_times,
array(
  select distinct asked.pool from unnest($1::integer[], $2::smallint[]) as asked (pool, partition)
  where (select pool from headrace.arrival order by pool, partition, id limit 1) is not null
    and (
      select a.id from headrace.arrival a where a.pool = asked.pool and a.partition = asked.partition
      order by a.id limit 1
    ) is not null
) as arrived_pools,
array(
  select t.name from headrace.topic t
  where (select topic from headrace.event_arrival order by topic, id limit 1) is not null
    and (select a.id from headrace.event_arrival a where a.topic = t.id order by a.id limit 1) is not null
) as arrived_topics,
array(select c.pool from headrace.control c where c.pool = any ($1::integer[]) order by c.pool) as control_pools,
array(select c.version from headrace.control c where c.pool = any ($1::integer[]) order by c.pool) as control_versions

-- name: next_dues
-- No lock.
with clock as materialized (select headrace.now_ms() as now),
:dues
select clock.now,
  :due_columns
from clock

-- name: beat
-- Locks: the lease if it is free, over, the member's own, or ends later than one can; then the member; the leader's beat
-- then those whose heartbeats lie in the future; then the version, if a refused raise is new.
-- The lease is read under its lock: of many beats at once one takes it, and all name that one. The heartbeat is written
-- as of its lock: one that had to wait did not beat earlier for that.
with clock as materialized (select headrace.now_ms() as now),
-- How long the lease as it stands can last.
longest as materialized (
  select greatest($6::bigint, m.lease_ms) as ms
  from headrace.lease l left join headrace.member m on m.id = l.member
  where l.id = 1
),
lease as materialized (
  select l.member, l.term, l.expires_at
  from headrace.lease l
  where l.id = 1 and (
    select $7::boolean and exists (select from headrace.member where id = $4)
      and (seen.member = $4 or seen.expires_at <= clock.now or seen.expires_at > clock.now + longest.ms)
    from headrace.lease seen cross join clock cross join longest
    where seen.id = 1
  )
  for no key update of l
),
before as materialized (
  select m.heartbeat_at, m.refused, m.beats
  from (select count(*) from lease) as locked cross join headrace.member m
  where m.id = $4
  for no key update of m
),
beaten as (
  update headrace.member m 
  set heartbeat_at = headrace.now_ms(), beats = m.beats + 1, health = $8, holding = $9, refused = $10
  from before
  where m.id = $4
  returning before.heartbeat_at as previous_at, before.beats as previous_beats, before.refused <> m.refused as is_news
),
led as (
  update headrace.lease l set member = $4, expires_at = clock.now + $6::bigint,
    term = lease.term + case when lease.expires_at <= clock.now then 1 else 0 end
  from clock, lease, beaten
  where l.id = 1 and (lease.expires_at <= clock.now or lease.member = $4)
  returning l.member, l.term, l.expires_at
),
-- What was written before the clock was set back: another's lease is cut, and the leader brings heartbeats back. By the
-- clock as of the lock, so that nothing that was written while this one waited seems to be of that time.
cut as (
  update headrace.lease l set expires_at = headrace.now_ms() + longest.ms
  from clock, lease, longest, beaten
  where l.id = 1 and lease.member <> $4 and lease.expires_at > clock.now
    and lease.expires_at > headrace.now_ms() + longest.ms
  returning l.member, l.term, l.expires_at
),
brought_back as (
  update headrace.member m set heartbeat_at = headrace.now_ms() from clock, led
  where m.heartbeat_at > clock.now and m.id <> $4
  returning m.id
),
announced as (
  update headrace.roster r set version = r.version + 1
  from beaten cross join (select count(*) from brought_back) as members_first
  where r.id = 1 and beaten.is_news
  returning r.version
),
-- Under the lock, where it was taken; else as it stood.
leader as (
  select member, term, expires_at from led
  union all
  select member, term, expires_at from cut
  union all
  select member, term, expires_at from lease where not exists (select from led) and not exists (select from cut)
  union all
  select member, term, expires_at from headrace.lease where id = 1 and not exists (select from lease)
),
:dues
select clock.now, beaten.previous_at, beaten.previous_beats, beaten.is_news, leader.member, leader.term, leader.expires_at,
  coalesce((select version from announced), (select version from headrace.roster where id = 1)) as version,
  array(select m.id from headrace.member m where m.heartbeat_at < clock.now - $5::bigint and m.id <> $4 order by m.id)
    as silent,
  :due_columns
from clock cross join leader left join beaten on true
where headrace.in_life(':life')
