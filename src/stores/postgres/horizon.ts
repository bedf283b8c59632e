// Who keeps the server from taking removed rows away, as a finding: an old transaction, a prepared one, or a slot. Pure.
import type { Finding } from '../../store.ts'
import type { Row } from './connections.ts'

/** Since when a transaction is old, and from how many removed rows on that is reported. */
const OLD_MS = 60_000
const MANY_ROWS = 100_000

export function horizonFinding(row: Row): Finding {
  const removed = row['removed'] as number
  const rows = `${removed.toLocaleString('en')} removed rows wait to be taken away`
  const kind = row['kind'] as string | null
  if (kind === null)
    return { check: 'horizon', ok: true, detail: `no transaction is open; ${rows}`, remedy: null }
  const forMs = row['for_ms'] as number | null
  const isOld = forMs === null || forMs >= OLD_MS
  const ok = !isOld || removed < MANY_ROWS
  const detail = `${holderOf(row)} keeps the server from taking removed rows away; ${rows}`
  return { check: 'horizon', ok, detail, remedy: ok ? null : remedyOf(row) }
}

function holderOf(row: Row): string {
  const [pid, state, forMs] = [row['pid'], row['state'], row['for_ms']] as (number | string | null)[]
  const facts = [
    ...(pid === null ? [] : [`pid ${pid}`]),
    ...(state === null ? [] : [`${state}`]),
    ...(forMs === null ? [] : [`open for ${Math.round(Number(forMs) / 1000)} s`]),
  ]
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`
  return `the ${String(row['kind'])} of ${String(row['name'])}${about}`
}

function remedyOf(row: Row): string {
  const name = String(row['name'])
  if (row['kind'] === 'prepared transaction') {
    return `end it: commit prepared '${name}', or rollback prepared '${name}'`
  }
  if (row['kind'] === 'replication slot') {
    return `let its consumer catch up, or drop it: select pg_drop_replication_slot('${name}')`
  }
  return `let it end, or end it: select pg_terminate_backend(${String(row['pid'])})`
}
