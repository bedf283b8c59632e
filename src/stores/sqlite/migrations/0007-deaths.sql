-- Records of deaths are found by key, and by time, and are kept for as long as their pool says; 30 days at first.

create index death_by_key on death (pool, key, died_at, id, slot);
create index death_by_time on death (pool, died_at, id);

alter table pool add column dead_for_ms integer not null default 2592000000;
