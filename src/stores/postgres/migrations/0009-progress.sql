-- What runs tell of themselves. A row is of no meaning when its entry has another turn.
create table headrace.progress (
  turn bigint not null,
  slot bigint not null,
  told_at bigint not null,
  pool integer not null,
  key text collate "C" not null,
  value text not null,
  primary key (pool, key, slot)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

create index progress_by_time on headrace.progress (told_at);
