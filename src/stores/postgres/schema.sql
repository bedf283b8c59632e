-- The version of the schema.

-- name: find_schema
select exists (
    select from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relname = 'schema_version'
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

-- name: read_version
select coalesce(max(version), 0) as version from headrace.schema_version

-- name: save_version
insert into headrace.schema_version (version) values ($1)

-- name: opening
-- A name for this opening of the store, to number its requests by.
select gen_random_uuid()::text as opening
