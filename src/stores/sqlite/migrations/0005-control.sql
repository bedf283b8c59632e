-- What steers a pool: its pause, its limits and how members share them, as JSON. A pool without a row has none of it.
create table control (
  pool integer primary key,
  version integer not null,
  control text not null
) strict;
