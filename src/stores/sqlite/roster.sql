-- name: roster_version
select next from counter where name = 'roster'

-- name: new_roster_version
-- Under the write lock; rolled back with its transaction.
update counter set next = next + 1 where name = 'roster'

-- name: save_member
insert into member (
  id, name, address, version, weight, concurrency, serves, leads, lease_ms, joined_at, heartbeat_at, draining, health,
  holding, refused
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '{}', '{}', '[]')
on conflict (id) do update set
  name = excluded.name, address = excluded.address, version = excluded.version, weight = excluded.weight,
  concurrency = excluded.concurrency, serves = excluded.serves, leads = excluded.leads,
  lease_ms = excluded.lease_ms, joined_at = excluded.joined_at, heartbeat_at = excluded.heartbeat_at, draining = excluded.draining,
  health = excluded.health, holding = excluded.holding, refused = excluded.refused

-- name: all_members
-- In the order in which they joined.
select * from member order by rowid

-- name: find_member
select serves, heartbeat_at, lease_ms, refused from member where id = ?

-- name: save_serves
update member set serves = ? where id = ?

-- name: save_address
update member set address = ? where id = ?

-- name: save_draining
update member set draining = ? where id = ?

-- name: save_beat
update member set heartbeat_at = ?, health = ?, holding = ?, refused = ? where id = ?

-- name: bring_back_heartbeats
-- Those that lie in the future were written before the clock was set back. A row for each member.
update member set heartbeat_at = ? where heartbeat_at > ?

-- name: silent_members
-- A row for each member.
select id from member where heartbeat_at < ? order by rowid

-- name: delete_member
delete from member where id = ?

-- name: find_resource
select name, partitions from resource where name = ?

-- name: add_resource
insert into resource (name, partitions) values (?, ?) on conflict (name) do nothing

-- name: all_resources
select name, partitions from resource order by rowid

-- name: idle_resources
-- A row for each resource.
select name, idle_since from resource where idle_since is not null

-- name: mark_idle
update resource set idle_since = ? where name = ?

-- name: delete_resource
delete from resource where name = ? and idle_since <= ?

-- name: epoch_floor
select next from counter where name = 'epoch-floor'

-- name: raise_epoch_floor
-- By the epochs of allotments that have no resource.
update counter set next = next + (
  select coalesce(sum(epoch), 0) from allotment
  where resource = ? and not exists (select 1 from resource where name = ?)
)
where name = 'epoch-floor'

-- name: delete_allotments
-- Of a name that has no resource.
delete from allotment where resource = ? and not exists (select 1 from resource where name = ?)

-- name: all_allotments
select * from allotment order by resource, partition

-- name: add_allotment
-- Only where nobody has it yet.
insert into allotment (resource, partition, owner, epoch, next, since, moves) values (?, ?, ?, ?, ?, ?, 0)
on conflict (resource, partition) do nothing

-- name: change_allotment
-- A compare-and-set on (owner, epoch, next); the old owner is on the right of every assignment.
update allotment set
  since = case when owner = ? then since else ? end, moves = moves + (owner <> ?), owner = ?, epoch = ?, next = ?
where resource = ? and partition = ? and owner = ? and epoch = ? and next is ?

-- name: find_leader
select member, term, expires_at from leader

-- name: save_leader
insert into leader (id, member, term, expires_at) values (1, ?, ?, ?)
on conflict (id) do update set member = excluded.member, term = excluded.term, expires_at = excluded.expires_at

-- name: free_leader
update leader set expires_at = ? where member = ? and expires_at > ?

-- name: find_lock
select holder, token, expires_at from lock where name = ?

-- name: save_lock
insert into lock (name, holder, token, expires_at) values (?, ?, ?, ?)
on conflict (name) do update set holder = excluded.holder, token = excluded.token, expires_at = excluded.expires_at

-- name: free_lock
-- Not as of now, which may lie in the future once the clock is set back.
update lock set expires_at = 0 where name = ? and holder = ? and expires_at > ?

-- name: held_locks
-- Index lock_by_expiry.
select name, holder, token, expires_at from lock where expires_at > ?
