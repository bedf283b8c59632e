-- Records of deaths are found by key, and by time, and are kept for as long as their pool says; 30 days at first.

create index death_by_key on headrace.death (pool, key, slot, id);
create index death_by_time on headrace.death (pool, died_at, id);

alter table headrace.pool add column dead_for_ms bigint not null default 2592000000;
