-- What steers pools. Each is one seek by the primary key.

-- name: read_control
select version, control from control where pool = ?

-- name: control_version
select version from control where pool = ?

-- name: save_control
insert into control (pool, version, control) values (?, ?, ?)
on conflict (pool) do update set version = excluded.version, control = excluded.control
