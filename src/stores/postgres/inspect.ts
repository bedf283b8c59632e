// What a PostgreSQL store finds of its server, its schema and its rights. Changes nothing.
import type { Finding } from '../../store.ts'
import type { Connections, Row } from './connections.ts'
import { horizonFinding } from './horizon.ts'
import { READ } from './pools.ts'
import { latestVersion } from './queries.ts'

/** More puts that wait are not counted. */
const MOST_COUNTED = 10_000

export interface InspectParts {
  connections: Connections
  schema: string
  /** Whether no pooler stands between this process and the server; null: not known yet. */
  isDirect: boolean | null
}

export async function inspect({ connections, schema, isDirect }: InspectParts): Promise<Finding[]> {
  const [row = {}] = await connections.query('inspect', [schema], READ)
  const [horizon = {}] = await connections.query('horizon', [schema], READ)
  const unfolded = await connections.query('unfolded', [MOST_COUNTED + 1], READ)
  return [
    finding(
      'server',
      row['is_known'] === true,
      `PostgreSQL ${String(row['server'])}`,
      'upgrade it to 15 or newer',
    ),
    finding(
      'schema',
      row['version'] === latestVersion(),
      `${schema}, version ${String(row['version'])}`,
      'run the same version of Headrace everywhere, and restart this one',
    ),
    finding('primary', row['only_reads'] === false, primary(row), 'give the address of the primary'),
    durability(row),
    isolation(row),
    rights(row, schema),
    room(row),
    horizonFinding(horizon),
    arrivals(unfolded),
    pooler(isDirect),
  ]
}

function finding(check: string, ok: boolean, detail: string, remedy: string): Finding {
  return { check, ok, detail, remedy: ok ? null : remedy }
}

function primary(row: Row): string {
  return row['only_reads'] === false ? 'it takes writes' : 'it is a standby, and only reads'
}

function durability(row: Row): Finding {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes']
  const off = names.filter((name) => row[name] === 'off')
  const detail = names.map((name) => `${name} ${String(row[name])}`).join(', ')
  return finding(
    'durability',
    off.length === 0,
    detail,
    `set ${off.join(' and ')} to on: a power cut would lose answered work`,
  )
}

/** Statements that wait for a row must then see it as it is, and not fail or see what was. */
function isolation(row: Row): Finding {
  const level = String(row['isolation'])
  const remedy =
    'set default_transaction_isolation to read committed: alter role NAME set default_transaction_isolation = ' +
    "'read committed'; then restart this process"
  return finding('isolation', level === 'read committed', level, remedy)
}

function rights(row: Row, schema: string): Finding {
  const forbidden = row['forbidden'] as string[]
  const detail = forbidden.length === 0 ? `all tables of ${schema}` : `not for ${forbidden.join(', ')}`
  return finding(
    'rights',
    forbidden.length === 0,
    detail,
    `grant select, insert, update, delete on all tables in schema ${schema}`,
  )
}

function room(row: Row): Finding {
  const [used, most] = [row['connections'] as number, row['most_connections'] as number]
  const remedy =
    'raise max_connections, give a smaller `max` in the address, or put a pooler before the server'
  return finding('connections', used < most * 0.9, `${used} of ${most} in use`, remedy)
}

/** Puts in transactions of users are folded in by members that work on their pool: without one they wait unseen. */
function arrivals(unfolded: readonly Row[]): Finding {
  const waits = unfolded.map((row) => {
    const count = row['count'] as number
    return `${count > MOST_COUNTED ? `over ${MOST_COUNTED}` : count} in the pool ${String(row['name'])}`
  })
  const detail =
    waits.length === 0
      ? 'no put of a transaction waits without a worker'
      : `puts of transactions wait, and no member works on their pool: ${waits.join(', ')}`
  return finding(
    'arrivals',
    waits.length === 0,
    detail,
    'start a process that calls race.work() with the pool',
  )
}

function pooler(isDirect: boolean | null): Finding {
  const detail =
    isDirect === false
      ? 'through a pooler: no hints of other processes arrive, and pulses find their work'
      : 'direct: hints of other processes arrive'
  return { check: 'pooler', ok: true, detail, remedy: null }
}
