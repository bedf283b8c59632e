-- Whether the runs of a pool put many others.
alter table pool add column fans_out integer not null default 0;
