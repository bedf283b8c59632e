// What a PostgreSQL store finds of its server, its schema and what stands between. Changes nothing.
import type { Finding } from '../../store.ts'
import type { Connections, Row } from './connections.ts'
import { READ } from './pools.ts'
import { latestVersion } from './queries.ts'

const LEAST_SERVER = 150_000

export interface InspectParts {
  connections: Connections
  schema: string
  /** Whether other members are heard at once. */
  isListening: boolean
}

export async function inspect({ connections, schema, isListening }: InspectParts): Promise<Finding[]> {
  const [row = {}] = await connections.query('inspect', [schema], READ)
  return [...serverFindings(row), ...schemaFindings(row, schema), poolerFinding(isListening)]
}

function serverFindings(row: Row): Finding[] {
  const server = row['server'] as number
  const version = `${Math.floor(server / 10_000)}.${server % 10_000}`
  return [
    finding('server', server >= LEAST_SERVER, `PostgreSQL ${version}`, 'upgrade to PostgreSQL 15 or newer'),
    finding(
      'primary',
      row['is_replica'] === false && row['is_read_only'] === false,
      row['is_replica'] === true ? 'a replica, which takes no writes' : 'takes writes',
      'connect to the primary, without default_transaction_read_only',
    ),
    finding(
      'durability',
      row['is_durable'] === true,
      row['is_durable'] === true ? 'commits wait for the disk' : 'fsync or synchronous_commit is off',
      'turn fsync and synchronous_commit on, or accept that a crash of the server loses acknowledged work',
    ),
    finding(
      'vacuum',
      row['vacuums'] === true,
      row['vacuums'] === true ? 'autovacuum is on' : 'autovacuum is off',
      'turn autovacuum on: pools leave dead rows behind',
    ),
  ]
}

function schemaFindings(row: Row, schema: string): Finding[] {
  const version = row['schema_version'] as number
  const latest = latestVersion()
  return [
    finding(
      'schema',
      version === latest,
      `${schema} has version ${version}, this Headrace knows ${latest}`,
      version > latest ? 'upgrade this Headrace' : 'run `headrace migrate`',
    ),
    finding(
      'permissions',
      row['may_write'] === true,
      row['may_write'] === true ? `may read and write ${schema}` : `may not write every table of ${schema}`,
      `grant usage on the schema ${schema}, and select, insert, update and delete on its tables`,
    ),
  ]
}

/** Behind a pooler all works, only wake-ups between members wait for the next pulse. So it is no failure. */
function poolerFinding(isListening: boolean): Finding {
  const detail = isListening
    ? 'none: members wake each other at once'
    : 'something stands between, or LISTEN failed: members wake each other with the next pulse, half a second at most'
  return finding('pooler', true, detail, '')
}

function finding(check: string, ok: boolean, detail: string, remedy: string): Finding {
  return { check, ok, detail, remedy: ok ? null : remedy }
}
