-- What an operator should know of the server and of our rights on it.

-- name: inspect
select current_setting('server_version_num')::integer as server,
  (select max(version) from headrace.schema_version) as schema_version,
  pg_is_in_recovery() as is_replica,
  current_setting('default_transaction_read_only') = 'on' as is_read_only,
  current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as is_durable,
  current_setting('autovacuum') = 'on' as vacuums,
  current_setting('max_connections')::integer as max_connections,
  has_schema_privilege($1, 'usage')
    and (
      select bool_and(has_table_privilege(c.oid, 'select, insert, update, delete'))
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relkind = 'r'
    ) as may_write
