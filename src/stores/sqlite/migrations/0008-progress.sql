-- What runs tell of themselves. A row is of no meaning when its entry has another turn.
create table progress (
  pool integer not null,
  key text not null,
  slot integer not null,
  turn integer not null,
  value text not null,
  told_at integer not null,
  primary key (pool, key, slot)
) strict, without rowid;

create index progress_by_time on progress (told_at);
