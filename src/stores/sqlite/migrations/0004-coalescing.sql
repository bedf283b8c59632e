-- Whether the runs of a pool put many others, and how long a key rests after a run. When it rests until stands in `fired`.
alter table pool add column fans_out integer not null default 0;
alter table pool add column throttle_ms integer not null default 0;
-- Since when puts with a longest wait put off the run, and the one after it.
alter table entry add column since integer;
alter table entry add column after_since integer;

-- Every payload that was put, in pools that keep them all; of the run after the next one `after` is 1. Of a death those that
-- its run saw, as a JSON list of texts.
alter table pool add column payloads text not null default 'latest';
alter table death add column payloads text;

create table payload (
  id integer primary key,
  pool integer not null,
  key text not null,
  after integer not null,
  payload text not null
) strict;

create index payload_by_key on payload (pool, key, after, id);
