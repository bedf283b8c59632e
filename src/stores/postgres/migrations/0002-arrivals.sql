-- What users put and append in transactions of their own: rows that nobody waits for, until the transaction commits and
-- they are folded into entries and events. Without a foreign key, which would lock what it points to.

create table headrace.arrival (
  id bigint generated always as identity,
  at bigint,
  pool integer not null,
  key_hash integer not null,
  partition smallint not null,
  lane smallint not null,
  rule smallint not null,
  key text collate "C" not null,
  grp text collate "C",
  payload text,
  primary key (pool, partition, id)
);

create table headrace.event_arrival (
  id bigint generated always as identity,
  topic integer not null,
  partition integer not null,
  event_id text collate "C" not null,
  key text collate "C" not null,
  value text not null,
  headers text,
  primary key (topic, id)
);
