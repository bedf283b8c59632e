-- What steers a pool: its pause, its limits and how members share them, as JSON. A pool without a row has none of it.
create table headrace.control (
  pool integer primary key,
  version bigint not null,
  control text not null
);
