-- Hints between processes. The channel is the name of the schema.

-- name: notify
-- Nobody waits for the disk: a hint may be lost.
select pg_notify($1, $2), set_config('synchronous_commit', 'off', true)

-- name: listen
listen :schema

-- name: probe
select

-- name: backend
select pg_backend_pid() as pid
