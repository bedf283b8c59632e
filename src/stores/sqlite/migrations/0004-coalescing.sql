-- Whether the runs of a pool put many others, and how long a key rests after a run. When it rests until stands in `fired`.
alter table pool add column fans_out integer not null default 0;
alter table pool add column throttle_ms integer not null default 0;
-- Since when puts with a longest wait put off the run, and the one after it.
alter table entry add column since integer;
alter table entry add column after_since integer;
