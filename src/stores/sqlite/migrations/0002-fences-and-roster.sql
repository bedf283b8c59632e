-- Fences, the roster (members, leader, resources, allotments), locks, and an index of entries by partition.

-- 'commit' grows with every transaction that others must look at: all but beats and changes of the roster, whose
-- version is 'roster'. 'fence' grows with every raise.
insert into counter (name, next) values ('commit', 0), ('roster', 0), ('fence', 0);

-- What a member takes and when its next entry is due, whatever is due in the partitions of others.
create index entry_by_partition on entry (pool, partition, lane, due_at) where state = 'live';

create table fence (
  resource text not null,
  partition integer not null,
  epoch integer not null,
  owner text not null,
  raised_at integer not null,
  primary key (resource, partition)
) strict, without rowid;

-- `serves`, `health`, `holding` and `refused` are JSON texts.
create table member (
  id text primary key,
  name text not null,
  address text,
  version text not null,
  weight real not null,
  concurrency integer not null,
  serves text not null,
  leads integer not null,
  joined_at integer not null,
  heartbeat_at integer not null,
  draining integer not null,
  health text not null,
  holding text not null,
  refused text not null
) strict;

create table resource (
  name text primary key,
  partitions integer not null
) strict;

create table allotment (
  resource text not null,
  partition integer not null,
  owner text not null,
  epoch integer not null,
  next text,
  since integer not null,
  moves integer not null,
  primary key (resource, partition)
) strict, without rowid;

-- One row, once there was a leader. A lease that was given back is over.
create table leader (
  id integer primary key check (id = 1),
  member text not null,
  term integer not null,
  expires_at integer not null
) strict;

-- A free lock stays, expired: its token must not be given again.
create table lock (
  name text primary key,
  holder text not null,
  token integer not null,
  expires_at integer not null
) strict, without rowid;

create index lock_by_expiry on lock (expires_at);
