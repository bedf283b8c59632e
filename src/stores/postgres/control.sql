-- The control records of pools. Index: the primary key. The pulse reads the versions.

-- name: read_control
select headrace.now_ms() as now, c.version, c.control
from (select $1::integer as pool) as asked left join headrace.control c using (pool)

-- name: write_control
-- Lock: the row. Of two writes of one version the second waits for the first, and finds another version.
insert into headrace.control as c (pool, version, control)
select $1::integer, greatest($2::bigint + 1, g.least), $3
from (select set_config('lock_timeout', '4500ms', true)) as bound cross join headrace.generation g
where headrace.in_life(':life') and ($2::bigint = 0 or exists (select from headrace.control where pool = $1::integer))
on conflict (pool) do update set version = greatest(c.version + 1, (select least from headrace.generation)), control = excluded.control
  where c.version = $2::bigint
returning c.version
