-- Pools: settings, entries (the table and the journal), fired slots, kept answers, deaths. Log: topics,
-- heads, events. Times are milliseconds since 1970.

create table counter (
  name text primary key,
  next integer not null
) strict, without rowid;

insert into counter (name, next) values ('turn', 1), ('change', 1), ('purged', 0);

create table pool (
  id integer primary key,
  name text not null unique,
  mode text not null check (mode in ('one', 'each')),
  partitions integer not null,
  remember_ms integer not null
) strict;

-- The table: entries that were merged, failed, folded from the journal, or need more than it holds.
-- `slot` is the least safe integer in mode one, since a key with a null would not be unique.
create table entry (
  turn integer primary key,
  pool integer not null,
  key text not null,
  slot integer not null,
  grp text not null,
  partition integer not null,
  lane text not null check (lane in ('fanout', 'normal', 'bulk')),
  due_at integer not null,
  tally integer not null check (tally >= 0),
  payload text,
  after_due_at integer,
  after_tally integer check (after_tally >= 0),
  after_payload text,
  attempt integer not null,
  state text not null check (state in ('live', 'dead')),
  failing integer not null,
  enqueued_at integer not null,
  put_at integer not null
) strict;

create unique index entry_by_key on entry (pool, key, slot);
-- Due time before partition: one range serves every partition of a process, and a listing. A member that owns
-- few partitions walks past the due entries of others, which its cursor bounds. Key and slot: a page of a
-- listing is read in order, also where a million entries are due at one moment.
create index entry_by_due on entry (pool, lane, due_at, key, slot, partition, attempt) where state = 'live';
create index entry_dead on entry (pool, due_at, key, slot) where state = 'dead';

-- The journal: the young entries of one commit, as JSON text [[key, slot, partition, payload], …]. Entry i
-- has turn `first_turn + i`, was put at `put_at`, and is due at the later of its slot and that.
create table segment (
  first_turn integer primary key,
  pool integer not null,
  put_at integer not null,
  entries text not null
) strict;

create index segment_by_pool on segment (pool, first_turn);

-- Which entries of a segment are gone: bit i of byte i / 8. A segment with none left is deleted, and its
-- number stands in `emptied` for half a minute. Each transaction that removes entries has a change number, so
-- that another process reads only what changed since it last looked.
create table gone (
  segment integer primary key,
  changed integer not null,
  bits blob not null
) strict;

create index gone_by_change on gone (changed);

create table emptied (
  changed integer not null,
  segment integer not null,
  primary key (changed, segment)
) strict, without rowid;

create table fired (
  pool integer not null,
  key text not null,
  slot integer not null,
  until integer not null,
  primary key (pool, key, slot)
) strict, without rowid;

create index fired_by_until on fired (until);

create table kept_answer (
  pool integer not null,
  id text not null,
  fingerprint text not null,
  answers text not null,
  until integer not null,
  primary key (pool, id)
) strict, without rowid;

create index kept_answer_by_until on kept_answer (until);

create table death (
  id integer primary key,
  pool integer not null,
  key text not null,
  slot integer not null,
  payload text,
  seen integer not null,
  reason text not null,
  error text,
  died_at integer not null
) strict;

create index death_by_pool on death (pool, id);

create table topic (
  id integer primary key,
  name text not null unique,
  partitions integer not null,
  retention_ms integer not null
) strict;

-- Offsets in [oldest, next) exist. Written in the transaction that appends, so they are contiguous.
create table head (
  topic integer not null,
  partition integer not null,
  oldest integer not null,
  next integer not null,
  primary key (topic, partition)
) strict, without rowid;

create table event (
  topic integer not null,
  partition integer not null,
  offset integer not null,
  id text not null,
  key text not null,
  value text not null,
  headers text,
  time integer not null,
  primary key (topic, partition, offset)
) strict, without rowid;
