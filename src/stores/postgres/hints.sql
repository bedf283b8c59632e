-- Hints between processes. The channel is the name of the schema.

-- name: notify
-- Nobody waits for the disk: a hint may be lost.
select pg_notify($1, $2), set_config('synchronous_commit', 'off', true)

-- name: listen
listen :schema

-- name: probe
select

-- name: client_port
select inet_client_port() as port
