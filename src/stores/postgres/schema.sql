-- The version of the schema.

-- name: find_schema
-- Ours has a version and what the first one made: others call a table of theirs schema_version, too.
select (
    select count(*) = 2 from pg_catalog.pg_class c
    where c.relnamespace = n.oid and c.relname in ('schema_version', 'fence') and c.relkind = 'r'
  ) as ours,
  (select count(*)::integer from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p')) as tables
from pg_catalog.pg_namespace n where n.nspname = $1

-- name: create_schema
create schema if not exists :schema

-- name: create_version
create table if not exists headrace.schema_version (
  version integer primary key,
  migrated_at timestamptz not null default now()
)

-- name: lock_version
lock table headrace.schema_version in exclusive mode

-- name: wait_briefly
-- From here on: while a statement waits to change a table that somebody reads, all that come later to the table wait, too.
set local lock_timeout = '200ms'

-- name: read_version
select coalesce(max(version), 0) as version from headrace.schema_version

-- name: save_version
insert into headrace.schema_version (version) values ($1)

-- name: opening
-- A name for this opening of the store, to number its requests by.
select gen_random_uuid()::text as opening

-- name: inspect
select current_setting('server_version') as server,
  current_setting('server_version_num')::integer >= 150000 as is_known,
  current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('full_page_writes') as full_page_writes,
  current_setting('default_transaction_isolation') as isolation,
  pg_is_in_recovery() as only_reads,
  (select max(version) from headrace.schema_version) as version,
  array(
    select c.relname::text from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relkind = 'r'
      and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
        and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
    order by c.relname
  ) as forbidden,
  (select count(*)::integer from pg_catalog.pg_stat_activity where backend_type = 'client backend') as connections,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    as most_connections

-- name: horizon
-- Who keeps the server from taking removed rows away, the oldest alone, and how many rows of the schema are removed. A
-- session of another user is seen only by who may read all statistics.
select (
    select coalesce(sum(n_dead_tup), 0)::float8 from pg_catalog.pg_stat_user_tables where schemaname = $1
  ) as removed, holder.*
from (select) as one left join (
  select 'transaction' as kind, coalesce(nullif(application_name, ''), usename::text, backend_type) as name, pid, state,
    floor(date_part('epoch', clock_timestamp() - xact_start) * 1000)::float8 as for_ms,
    greatest(age(backend_xmin), age(backend_xid)) as age
  from pg_catalog.pg_stat_activity
  where pid <> pg_backend_pid() and (datname = current_database() or backend_type = 'walsender')
    and (backend_xmin is not null or backend_xid is not null)
  union all
  select 'prepared transaction', gid, null, null,
    floor(date_part('epoch', clock_timestamp() - prepared) * 1000)::float8, age(transaction)
  from pg_catalog.pg_prepared_xacts where database = current_database()
  union all
  select 'replication slot', slot_name::text, active_pid, case when active then 'active' else 'inactive' end, null, age(xmin)
  from pg_catalog.pg_replication_slots where xmin is not null
  order by age desc, for_ms desc
  limit 1
) as holder on true
