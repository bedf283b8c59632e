-- Everything stands in one schema, `headrace` unless the address names another. Times are milliseconds since 1970 by
-- the clock of the database, which every query reads through now_ms().

create function headrace.now_ms() returns bigint language sql volatile as
$$ select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint $$;

-- RFC 3339 in UTC with milliseconds, as src/clock.ts writes it. Days and the rest of the day apart: one number of
-- microseconds would not be exact. PostgreSQL calls the year 0 the first before Christ.
create function headrace.iso(ms bigint) returns text language sql stable as $$
  select case when ms < -62135596800000 then '0000' else
      to_char(date '1970-01-01' + ((ms - (ms % 86400000 + 86400000) % 86400000) / 86400000)::integer, 'YYYY') end
    || to_char(
      timestamp '1970-01-01' + ((ms - (ms % 86400000 + 86400000) % 86400000) / 86400000) * interval '1 day'
        + ((ms % 86400000 + 86400000) % 86400000) * interval '1 millisecond',
      '-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Pools and topics share their numbers, so that one of them names what a request was made to.
create sequence headrace.noun_id as integer;
create sequence headrace.turn cache 512;

create table headrace.pool (
  id integer primary key default nextval('headrace.noun_id'),
  name text collate "C" not null unique,
  mode text not null check (mode in ('one', 'each')),
  partitions integer not null,
  remember_ms bigint not null
);

-- `slot` is the least safe integer in mode one, since a key with a null would not be unique. `grp` is null where it is
-- the key. A slot that has fired and is remembered stays, state fired, until `until`: a put meets it under the row's
-- lock. `note` is what the last put was: its place in its batch × 64, its rule × 8, what came of it. `key_hash` is
-- Kafka's, so that a move finds the partition of the topic. `state` is live, dead or fired. No checks, which cost 4 % of a
-- put, and what is always there stands first: behind a null every column takes longer to find.
create table headrace.entry (
  turn bigint not null,
  slot bigint not null,
  due_at bigint not null,
  enqueued_at bigint not null,
  put_at bigint not null,
  pool integer not null,
  tally integer not null,
  attempt integer not null,
  note integer not null,
  key_hash integer not null,
  partition smallint not null,
  lane smallint not null,
  failing boolean not null,
  state text collate "C" not null,
  key text collate "C" not null,
  grp text collate "C",
  payload text,
  until bigint,
  after_due_at bigint,
  after_tally integer,
  after_payload text,
  primary key (pool, key, slot)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

create index entry_due on headrace.entry (pool, partition, lane, due_at) where state = 'live';
create index entry_failing on headrace.entry (pool, due_at, key, slot) where state = 'live' and attempt > 0;
create index entry_dead on headrace.entry (pool, due_at, key, slot) where state = 'dead';
create index entry_fired on headrace.entry (until) where state = 'fired';

create table headrace.death (
  id bigint generated always as identity,
  pool integer not null,
  slot bigint not null,
  seen integer not null,
  died_at bigint not null,
  key text collate "C" not null,
  payload text,
  reason text not null,
  error text,
  primary key (pool, id)
);

-- Requests that were made, so that one made again is known. The first insert of an id wins; whoever comes second waits
-- for its commit. The answers stand apart: one statement can write a row only once. Of puts: notes, due
-- times, tallies; of appends: partitions and their first offsets.
create table headrace.request (
  scope integer not null,
  round smallint not null,
  until bigint not null,
  id text collate "C" not null,
  fingerprint text collate "C" not null,
  attempt text collate "C" not null,
  primary key (scope, id, round)
);

create index request_until on headrace.request (until);

create table headrace.answer (
  scope integer not null,
  round smallint not null,
  now bigint not null,
  id text collate "C" not null,
  notes integer[] not null,
  numbers bigint[] not null,
  tallies integer[] not null,
  primary key (scope, id, round)
);

create table headrace.topic (
  id integer primary key default nextval('headrace.noun_id'),
  name text collate "C" not null unique,
  partitions integer not null,
  retention_ms bigint not null
);

-- Offsets in [oldest, next) exist. The row is locked until the appending transaction commits, so they are contiguous
-- in the order of commits.
create table headrace.head (
  topic integer not null,
  partition integer not null,
  oldest bigint not null,
  next bigint not null,
  primary key (topic, partition)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table headrace.event (
  event_offset bigint not null,
  time bigint not null,
  topic integer not null,
  partition integer not null,
  id text collate "C" not null,
  key text collate "C" not null,
  value text not null,
  headers text,
  primary key (topic, partition, event_offset)
);

create table headrace.fence (
  resource text collate "C" not null,
  partition integer not null,
  epoch bigint not null,
  owner text collate "C" not null,
  raised_at bigint not null,
  primary key (resource, partition)
) with (fillfactor = 50);

create table headrace.member (
  id text collate "C" primary key,
  name text not null,
  address text,
  version text not null,
  weight double precision not null,
  concurrency integer not null,
  serves text[] not null,
  leads boolean not null,
  joined_at bigint not null,
  heartbeat_at bigint not null,
  draining boolean not null default false,
  health text not null default '{}',
  holding text not null default '{}',
  refused text not null default '[]'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table headrace.resource (
  name text collate "C" primary key,
  partitions integer not null
);

create table headrace.allotment (
  resource text collate "C" not null,
  partition integer not null,
  owner text collate "C" not null,
  epoch bigint not null,
  next text collate "C",
  since bigint not null,
  moves integer not null,
  primary key (resource, partition)
);

-- One row each: the leader's lease (term 0: there never was one), and the version of the roster.
create table headrace.lease (
  id integer primary key default 1 check (id = 1),
  member text collate "C" not null,
  term bigint not null,
  expires_at bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

insert into headrace.lease (member, term, expires_at) values ('', 0, 0);

create table headrace.roster (
  id integer primary key default 1 check (id = 1),
  version bigint not null
);

insert into headrace.roster (version) values (0);

-- A lock that was given back stays, expired: its token must not be given again.
create table headrace.named_lock (
  name text collate "C" primary key,
  holder text collate "C" not null,
  token bigint not null,
  expires_at bigint not null
);
