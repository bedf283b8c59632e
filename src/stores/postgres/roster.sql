-- The roster. Every change is one statement, so that no member that stands still holds a lock. Lock order: the lease,
-- members, allotments by (resource, partition), the version.

-- name: find_resources
select name, partitions from headrace.resource where name = any ($1::text[])

-- name: join
-- Answers the resources as they stand; where one has another number of partitions, the member has not joined.
with registered as (
  insert into headrace.resource as r (name, partitions)
  select * from unnest($10::text[], $11::integer[]) as asked (name, partitions) order by name
  on conflict (name) do update set partitions = r.partitions, idle_since = null
  returning name, partitions
),
fits as (
  select not exists (
    select from registered join unnest($10::text[], $11::integer[]) as asked (name, partitions) using (name)
    where registered.partitions <> asked.partitions
  ) as fits
),
joined as (
  insert into headrace.member (id, name, address, version, weight, concurrency, serves, leads, lease_ms, joined_at,
    heartbeat_at)
  select $1, $2, $3, $4, $5, $6, $7::text[], $8, $9::bigint, clock.now, clock.now
  from (select headrace.now_ms() as now) as clock cross join fits
  where fits.fits
  on conflict (id) do nothing
  returning id
),
announced as (
  update headrace.roster set version = version + 1 where id = 1 and exists (select from joined)
)
select name, partitions from registered where headrace.in_life(':life')

-- name: serve
with registered as (
  insert into headrace.resource as r (name, partitions)
  select asked.name, asked.partitions
  from unnest($2::text[], $3::integer[]) as asked (name, partitions)
  where exists (select from headrace.member where id = $1)
  order by name
  on conflict (name) do update set partitions = r.partitions, idle_since = null
  returning name, partitions
),
fits as (
  select not exists (
    select from registered join unnest($2::text[], $3::integer[]) as asked (name, partitions) using (name)
    where registered.partitions <> asked.partitions
  ) as fits
),
served as (
  update headrace.member m
  set serves = m.serves || array(select unnest($2::text[]) except select unnest(m.serves))
  from fits where m.id = $1 and fits.fits
  returning m.id
),
announced as (
  update headrace.roster set version = version + 1 where id = 1 and exists (select from served)
)
select name, partitions from registered where headrace.in_life(':life')

-- name: reach
with reached as (
  update headrace.member set address = $2 where id = $1 returning id
),
announced as (
  update headrace.roster set version = version + 1 where id = 1 and exists (select from reached)
)
select id from reached where headrace.in_life(':life')

-- name: view
-- Everything, on one snapshot.
select headrace.now_ms() as now,
  (select version from headrace.roster where id = 1) as version,
  (select row_to_json(l) from headrace.lease l where l.id = 1 and l.term > 0) as leader,
  (select coalesce(json_agg(m order by m.id), '[]') from headrace.member m) as members,
  (select coalesce(json_agg(json_build_object('name', r.name, 'partitions', r.partitions) order by r.name), '[]')
    from headrace.resource r) as resources,
  (select coalesce(json_object_agg(r.name, r.idle_since), '{}') from headrace.resource r
    where r.idle_since is not null) as idle,
  (select epoch_floor from headrace.roster where id = 1) as epoch_floor,
  (select coalesce(json_agg(a order by a.resource, a.partition), '[]') from headrace.allotment a) as allotments

-- name: decide
-- The conditions are looked at under the locks of the lease and of those to be declared dead, by a clock that is read
-- after them. Each change is a compare-and-set of its own.
with lease as materialized (
  select l.member, l.term, l.expires_at from headrace.lease l where l.id = 1 for no key update of l
),
dying as materialized (
  select m.id, m.heartbeat_at
  from (select count(*) from lease) as locked cross join headrace.member m
  where m.id = any ($5::text[])
  order by m.id
  for update of m
),
gathered as materialized (
  select l.*, (select max(heartbeat_at) from dying) as last_beat,
    (select heartbeat_at from headrace.member where id = $1) as own_beat
  from lease l
),
verdict as materialized (
  select now, case
      when member <> $1 or term <> $2::bigint or expires_at <= now then 'not-leader'
      when own_beat is null or own_beat < now - $4::bigint then 'unsure'
      when last_beat >= now - $3::bigint then 'alive'
      else 'decided'
    end as kind
  from (select gathered.*, headrace.now_ms() as now from gathered) as timed
),
buried as (
  delete from headrace.member m using verdict v where v.kind = 'decided' and m.id = any ($5::text[]) returning m.id
),
asked as materialized (
  select asked.*
  from verdict v cross join unnest($6::text[], $7::integer[], $8::text[], $9::bigint[], $10::text[], $11::text[],
    $12::bigint[], $13::text[])
    as asked (resource, partition, from_owner, from_epoch, from_next, to_owner, to_epoch, to_next)
  where v.kind = 'decided'
),
locked as materialized (
  select a.resource, a.partition, a.owner, a.epoch, a.next
  from headrace.allotment a join (select distinct resource, partition from asked) as named using (resource, partition)
  order by a.resource, a.partition
  for no key update of a
),
changed as (
  update headrace.allotment a set owner = asked.to_owner, epoch = asked.to_epoch, next = asked.to_next,
    since = case when a.owner = asked.to_owner then a.since else v.now end,
    moves = a.moves + case when a.owner = asked.to_owner then 0 else 1 end
  from asked join locked using (resource, partition) cross join verdict v
  where a.resource = asked.resource and a.partition = asked.partition
    and locked.owner = asked.from_owner and locked.epoch = asked.from_epoch
    and locked.next is not distinct from asked.from_next
  returning 1
),
created as (
  insert into headrace.allotment (resource, partition, owner, epoch, next, since, moves)
  select asked.resource, asked.partition, asked.to_owner,
    case when starts_with(asked.resource, 'share/') then asked.to_epoch else greatest(asked.to_epoch, g.least_epoch) end,
    asked.to_next, v.now, 0
  from asked cross join verdict v cross join headrace.generation g
  where asked.from_owner is null
  order by asked.resource, asked.partition
  on conflict do nothing
  returning 1
),
announced as (
  update headrace.roster set version = version + 1
  where id = 1 and (select count(*) from changed) + (select count(*) from created) + (select count(*) from buried) > 0
)
select kind, (select count(*) from changed) + (select count(*) from created) as applied from verdict
where headrace.in_life(':life')

-- name: grant
-- The owner's compare-and-set; with $7 true it also leaves: its lease is free and the member is gone. Written first, since
-- a decision that declares it dead locks the member before its allotments.
with lease as materialized (
  select l.member, l.expires_at
  from headrace.lease l
  where l.id = 1 and $7::boolean and (select seen.member = $1 from headrace.lease seen where seen.id = 1)
  for no key update of l
),
clock as materialized (select headrace.now_ms() as now from (select count(*) from lease) as locked),
freed as (
  update headrace.lease l set expires_at = clock.now from clock, lease
  where l.id = 1 and lease.member = $1 and lease.expires_at > clock.now
  returning 1
),
left_roster as (
  delete from headrace.member m using clock where $7::boolean and m.id = $1 returning m.id
),
asked as materialized (
  select asked.*
  from (select count(*) from freed) as lease_first cross join (select count(*) from left_roster) as member_first
    cross join unnest($2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[]) with ordinality
    as asked (resource, partition, epoch, next, to_owner, nth)
),
locked as materialized (
  select a.resource, a.partition, a.owner, a.epoch, a.next
  from headrace.allotment a join (select distinct resource, partition from asked) as named using (resource, partition)
  order by a.resource, a.partition
  for no key update of a
),
changed as (
  update headrace.allotment a set owner = asked.to_owner, epoch = asked.epoch + 1, next = null,
    since = case when a.owner = asked.to_owner then a.since else clock.now end,
    moves = a.moves + case when a.owner = asked.to_owner then 0 else 1 end
  from asked join locked using (resource, partition) cross join clock
  where a.resource = asked.resource and a.partition = asked.partition
    and locked.owner = $1 and locked.epoch = asked.epoch and locked.next is not distinct from asked.next
  returning asked.nth
),
announced as (
  update headrace.roster set version = version + 1
  where id = 1 and (select count(*) from changed) + (select count(*) from freed) + (select count(*) from left_roster) > 0
)
select nth from changed where headrace.in_life(':life')

-- name: drain
with drained as (
  update headrace.member set draining = $2 where id = $1 returning id
),
announced as (
  update headrace.roster set version = version + 1 where id = 1 and exists (select from drained)
)
select id from drained where headrace.in_life(':life')

-- name: step_down
with freed as (
  update headrace.lease set expires_at = clock.now from (select headrace.now_ms() as now) as clock
  where id = 1 and member = $1 and expires_at > clock.now
  returning term
),
announced as (
  update headrace.roster set version = version + 1 where id = 1 and exists (select from freed)
)
select term from freed where headrace.in_life(':life')

-- name: mark_idle
-- Locks the resources.
with marked as materialized (
  select r.name from headrace.resource r where r.name = any ($1::text[] || $2::text[]) order by r.name for update of r
)
update headrace.resource r set idle_since = case when r.name = any ($1::text[]) then headrace.now_ms() end
from marked where r.name = marked.name and headrace.in_life(':life')
returning r.name

-- name: forget
-- A join takes the mark off under the lock of the resource: where it came first, the condition is looked at again and
-- fails. An allotment that a decision creates meanwhile is left without a resource, and the leader forgets it later.
with forgettable as materialized (
  select r.name
  from headrace.resource r
  where r.name = any ($1::text[]) and r.idle_since <= headrace.now_ms() - $2::bigint
    and not exists (select from headrace.member m where r.name = any (m.serves))
  order by r.name
  for update of r
),
removed as (
  delete from headrace.resource r using forgettable f where r.name = f.name returning r.name
),
dropped as (
  delete from headrace.allotment a
  where a.resource = any ($1::text[]) and (
    a.resource in (select name from removed)
    or not exists (select from headrace.resource r where r.name = a.resource)
  )
  returning a.epoch
),
announced as (
  update headrace.roster
  set version = version + 1, epoch_floor = epoch_floor + (select coalesce(sum(epoch), 0) from dropped)
  where id = 1 and (select count(*) from removed) + (select count(*) from dropped) > 0
)
select name from removed where headrace.in_life(':life')
