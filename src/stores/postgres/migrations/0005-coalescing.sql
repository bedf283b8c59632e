-- Whether the runs of a pool put many others.
alter table headrace.pool add column fans_out boolean not null default false;
