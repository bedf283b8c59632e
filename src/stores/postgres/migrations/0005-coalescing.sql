-- Whether the runs of a pool put many others, and how long a key rests after a run. An entry of a throttled pool rests until
-- its `until`; one of which nothing is left stays so long, state fired.
alter table headrace.pool add column fans_out boolean not null default false;
alter table headrace.pool add column throttle_ms bigint not null default 0;

-- Since when puts with a longest wait put off the run, and the one after it. Where nothing waits after it `after_since` means
-- nothing: a put that names a longest wait proposes that there, so that a merge knows it.
alter table headrace.entry add column since bigint;
alter table headrace.entry add column after_since bigint;
alter table headrace.arrival add column longest_wait bigint;

-- Every payload that was put, in pools that keep them all, and of a death those that its run saw.
alter table headrace.pool add column payloads text not null default 'latest';
alter table headrace.death add column payloads text[];

create table headrace.payload (
  id bigint generated always as identity,
  pool integer not null,
  after boolean not null,
  key text collate "C" not null,
  payload text not null,
  primary key (pool, key, after, id)
);
