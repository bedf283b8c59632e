-- What steers pools. Index: the primary key. The pulse reads the versions.

-- name: read_control
select headrace.now_ms() as now, c.version, c.control
from (select $1::integer as pool) as asked left join headrace.control c using (pool)

-- name: write_control
-- Lock: the row. Of two writes of one version the second waits for the first, and finds another version.
insert into headrace.control as c (pool, version, control)
select $1::integer, $2::bigint + 1, $3
from (select set_config('lock_timeout', '4500ms', true)) as bound
where $2::bigint = 0 or exists (select from headrace.control where pool = $1::integer)
on conflict (pool) do update set version = c.version + 1, control = excluded.control
  where c.version = $2::bigint
returning c.version
