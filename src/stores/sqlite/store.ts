// The SQLite store: one file, several processes on one machine, nothing to install.
import type { Clock } from '../../clock.ts'
import { Listeners } from '../../listeners.ts'
import type { Hint, Pulse, PulseRequest, Store, StoreContext } from '../../store.ts'
import { SqliteBrowse } from './browse.ts'
import { SqliteControl } from './control.ts'
import { Database, latestVersion } from './database.ts'
import { SqliteDead } from './dead.ts'
import { SqliteFences } from './fences.ts'
import { watchForeignCommits } from './foreign-commits.ts'
import { type Chores, Housekeeping } from './housekeeping.ts'
import { inspect } from './inspect.ts'
import { SqliteLocks } from './locks.ts'
import { SqliteLog } from './log.ts'
import { SqliteMover } from './mover.ts'
import { SqliteEntries } from './entries.ts'
import { Pools, nextDueAt } from './pools.ts'
import { SqliteProgress } from './progress.ts'
import { SqliteRoster } from './roster.ts'
import { Session } from './session.ts'
import { Topics } from './topics.ts'
import { TurnCounter } from './turn-counter.ts'

export async function openSqliteStore(path: string, context: StoreContext): Promise<Store> {
  const { clock, telemetry } = context
  const database = await Database.open(path, clock)
  telemetry.emit('store.migrated', { from: database.foundVersion, to: latestVersion() })
  const session = new Session({ database, ...context })
  const listeners = new Listeners<[Hint]>((error) => telemetry.emit('listener.failed', { error }))
  const hint = (what: Hint): void => listeners.tell(what)
  const now = (): number => clock.now()
  const turns = new TurnCounter(database)
  const topics = new Topics(database)
  session.mirror(turns)
  session.mirror(topics)
  const pools = new Pools({ database, session, turns })
  const fences = new SqliteFences(database, session)
  const parts = { database, session, pools, topics, fences, telemetry, hint, now }
  const roster = new SqliteRoster(parts)
  const control = new SqliteControl(parts)
  const log = new SqliteLog(parts)
  const housekeeping = new Housekeeping({ ...parts, clock })
  const foreign = watchForeignCommits(database, clock, hint)
  const generation = database.statement('read_generation').get()?.['id'] as string
  let closing: Promise<void> | null = null
  return {
    address: `sqlite:${path}`,
    pool: {
      entries: new SqliteEntries(parts),
      browse: new SqliteBrowse(parts),
      dead: new SqliteDead(parts),
      progress: new SqliteProgress(parts),
      control,
      putsAtOnce: 1,
    },
    log,
    arrivals: null,
    mover: new SqliteMover({ ...parts, log }),
    fences,
    roster,
    locks: new SqliteLocks(parts),
    pulse: (request) => pulse({ ...parts, roster, control, clock, housekeeping, generation }, request),
    inspect: () => inspect(database),
    watch: (listener) => listeners.add(listener),
    close() {
      foreign()
      closing ??= housekeeping
        .settled()
        .then(() => session.close())
        .then(() => database.close())
      return closing
    },
  }
}

interface PulseParts {
  database: Database
  session: Session
  pools: Pools
  roster: SqliteRoster
  control: SqliteControl
  housekeeping: Housekeeping
  clock: Clock
  generation: string
}

/** A read, or with a beat one small write; either way one store call. */
async function pulse(parts: PulseParts, { beat, pools: asked }: PulseRequest): Promise<Pulse> {
  const { database, session, pools, roster, control, housekeeping, clock } = parts
  session.checkFile()
  const look = (now: number): Pick<Pulse, 'now' | 'nextDueAt' | 'controls'> & { chores: Chores } => {
    const dues = asked.map(({ pool, partitions }) => [pool, nextDueAt(pools.of(pool), partitions)] as const)
    const controls = new Map(asked.map(({ pool }) => [pool, control.version(pool)]))
    return { now, nextDueAt: new Map(dues), controls, chores: housekeeping.find(now) }
  }
  const { chores, ...answer } =
    beat === null
      ? session.look(() => ({ ...look(clock.now()), beaten: null }), 'pulse')
      : await session.write('beat', (tx) => {
          if (database.identity.isCountDue(clock.mono())) {
            const number = database.statement('count_opening').get()?.['number'] as number
            tx.afterCommit(() => database.identity.counted(number))
          }
          return { ...look(tx.now), beaten: roster.beatIn(tx, beat) }
        })
  housekeeping.begin(chores)
  return { ...answer, arrived: [], refusal: session.refusal(), generation: parts.generation }
}
