-- Hints between processes. The channel is the name of the schema.

-- name: notify
select pg_notify($1, $2)

-- name: listen
listen :schema

-- name: client_port
select inet_client_port() as port
