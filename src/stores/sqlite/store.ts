// The SQLite store: one file, several processes on one machine, nothing to install.
import type { Clock, Timer } from '../../clock.ts'
import type { Hint, Pulse, Store, StoreContext } from '../../store.ts'
import { SqliteBrowse } from './browse.ts'
import { Database, latestVersion } from './database.ts'
import { findChores, keepHouse } from './housekeeping.ts'
import { SqliteLog } from './log.ts'
import { SqliteMover } from './mover.ts'
import { SqliteEntries } from './pool.ts'
import { Pools, nextDueAt } from './pools.ts'
import { Session } from './session.ts'
import { Topics } from './topics.ts'
import { Turns } from './turns.ts'

/** How often the file is asked whether another process has written; 2 µs each, no store call. */
const LOOK_EVERY_MS = 10

export async function openSqliteStore(path: string, context: StoreContext): Promise<Store> {
  const { clock, telemetry } = context
  const database = await Database.open(path, clock)
  telemetry.emit('store.migrated', { from: database.foundVersion, to: latestVersion() })
  const session = new Session({ database, ...context })
  const listeners = new Set<(hint: Hint) => void>()
  const hint = (what: Hint): void => {
    for (const listener of listeners) listener(what)
  }
  const now = (): number => clock.now()
  const turns = new Turns(database)
  const topics = new Topics(database)
  session.mirror(turns)
  session.mirror(topics)
  const pools = new Pools({ database, session, turns })
  const parts = { database, session, pools, topics, telemetry, hint, now }
  const log = new SqliteLog(parts)
  const foreign = watchForeign(database, clock, () => hint({ kind: 'foreign' }))
  let closing: Promise<void> | null = null
  return {
    address: `sqlite:${path}`,
    pool: { entries: new SqliteEntries(parts), browse: new SqliteBrowse(parts) },
    log,
    mover: new SqliteMover({ ...parts, log }),
    pulse: () => pulse(parts, clock),
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      closing ??= close(session, database, foreign)
      return closing
    },
  }
}

async function pulse(parts: Parameters<typeof keepHouse>[0], clock: Clock): Promise<Pulse> {
  const began = clock.mono()
  const { now, nextDueAts, chores } = parts.session.read(() => {
    const moment = clock.now()
    const dues = [...parts.pools.all()].map((pool) => [pool.settings.name, nextDueAt(pool)] as const)
    return { now: moment, nextDueAts: new Map(dues), chores: findChores(parts, moment) }
  })
  await keepHouse(parts, chores)
  parts.telemetry.emit('store.called', { operation: 'pulse', tookMs: clock.mono() - began })
  return { now, nextDueAt: nextDueAts, refusal: parts.session.refusal() }
}

async function close(session: Session, database: Database, foreign: () => void): Promise<void> {
  foreign()
  await session.settled()
  database.close()
}

/** Calls back when another process has committed; answers how to stop looking. */
function watchForeign(database: Database, clock: Clock, changed: () => void): () => void {
  let seen = database.dataVersion()
  let timer: Timer
  const look = (): void => {
    const dataVersion = database.dataVersion()
    if (dataVersion !== seen) changed()
    seen = dataVersion
    timer = clock.timer(LOOK_EVERY_MS, look, { background: true })
  }
  timer = clock.timer(LOOK_EVERY_MS, look, { background: true })
  return () => timer.cancel()
}
