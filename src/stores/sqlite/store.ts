// The SQLite store: one file, several processes on one machine, nothing to install.
import type { Clock, Timer } from '../../clock.ts'
import type { Hint, Pulse, Store, StoreContext } from '../../store.ts'
import { SqliteBrowse } from './browse.ts'
import { Database, latestVersion } from './database.ts'
import { Housekeeping } from './housekeeping.ts'
import { inspect } from './inspect.ts'
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
  const housekeeping = new Housekeeping({ ...parts, clock })
  const foreign = watchForeign(database, clock, () => hint({ kind: 'foreign' }))
  let closing: Promise<void> | null = null
  return {
    address: `sqlite:${path}`,
    pool: { entries: new SqliteEntries(parts), browse: new SqliteBrowse(parts) },
    log,
    mover: new SqliteMover({ ...parts, log }),
    pulse: () => pulse({ ...parts, clock, housekeeping }),
    inspect: () => inspect(database),
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      foreign()
      closing ??= housekeeping
        .settled()
        .then(() => session.settled())
        .then(() => database.close())
      return closing
    },
  }
}

interface PulseParts {
  session: Session
  pools: Pools
  housekeeping: Housekeeping
  clock: Clock
}

async function pulse({ session, pools, housekeeping, clock }: PulseParts): Promise<Pulse> {
  const { chores, ...answer } = session.read(() => {
    const now = clock.now()
    const dues = [...pools.all()].map((pool) => [pool.settings.name, nextDueAt(pool)] as const)
    return { now, nextDueAt: new Map(dues), chores: housekeeping.find(now) }
  }, 'pulse')
  housekeeping.begin(chores)
  return { ...answer, refusal: session.refusal() }
}

/** Calls back when another process has committed; answers how to stop looking. */
function watchForeign(database: Database, clock: Clock, changed: () => void): () => void {
  let seen = database.dataVersion()
  let timer: Timer
  const look = (): void => {
    // Before the listeners are called, since one of them may close the store.
    timer = clock.timer(LOOK_EVERY_MS, look, { background: true })
    const dataVersion = dataVersionIfReadable(database) ?? seen
    if (dataVersion === seen) return
    seen = dataVersion
    changed()
  }
  timer = clock.timer(LOOK_EVERY_MS, look, { background: true })
  return () => timer.cancel()
}

/** Null while the file cannot be read, as when another process recovers it; reads and writes say so themselves. */
function dataVersionIfReadable(database: Database): number | null {
  try {
    return database.dataVersion()
  } catch {
    return null
  }
}
