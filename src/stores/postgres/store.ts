// The PostgreSQL store: many processes on many machines, behind a pooler in transaction mode or not.
import type { PoolConfig } from 'pg'
import type { Hint, Store, StoreContext } from '../../store.ts'
import { type Address, parseAddress } from './address.ts'
import { PostgresArrivals } from './arrivals.ts'
import { PostgresBrowse } from './browse.ts'
import { PostgresDead } from './dead.ts'
import { Connections } from './connections.ts'
import { PostgresControl } from './control.ts'
import { loadDriver } from './driver.ts'
import { toHeadraceError } from './failure.ts'
import { PostgresFences } from './fences.ts'
import { DueWatermarks } from './due-watermarks.ts'
import { Hints } from './hints.ts'
import { Housekeeping } from './housekeeping.ts'
import { inspect } from './inspect.ts'
import { Life, findLife } from './life.ts'
import { PostgresLocks } from './locks.ts'
import { PostgresLog } from './log.ts'
import { migrate } from './migrate.ts'
import { PostgresMover } from './mover.ts'
import { PostgresEntries } from './entries.ts'
import { Pools, READ } from './pools.ts'
import { PostgresProgress } from './progress.ts'
import { type Beats, pulse } from './pulse.ts'
import { Queries, latestVersion } from './queries.ts'
import { Requests } from './requests.ts'
import { PostgresRoster } from './roster.ts'
import { Sweeps } from './sweeps.ts'
import { Topics } from './topics.ts'

/** Of all connections: for pulses, roster and fences alone, so that no load of puts keeps a pulse waiting. */
const VITAL = 2

export async function openPostgresStore(text: string, context: StoreContext): Promise<Store> {
  const address = parseAddress(text)
  const { work, vital, hints, queries, opening, generation } = await connect(address, context)
  const hint = hints.send
  const pools = new Pools(work, queries)
  const topics = new Topics(work, queries)
  const watermarks = new DueWatermarks()
  const sweeps = new Sweeps({ connections: work, clock: context.clock, watermarks, hint })
  const parts = {
    ...context,
    connections: work,
    queries,
    pools,
    topics,
    watermarks,
    sweeps,
    requests: new Requests(opening),
    hint,
  }
  hints.watch((hint) => lower(watermarks, pools, hint))
  const renewed = (): void => {
    watermarks.renew()
    hint({ kind: 'foreign' })
  }
  const life = new Life({ ...parts, connections: vital, numbered: [pools, topics], renewed }, generation)
  for (const each of [work, vital]) each.follow(life)
  const beats: Beats = new Map()
  const housekeeping = new Housekeeping(parts)
  const closeAll = async (): Promise<void> => {
    await Promise.all([housekeeping.settled(), sweeps.settled()])
    await hints.close()
    await Promise.all([work.close(), vital.close()])
  }
  let closing: Promise<void> | null = null
  return {
    address: address.shown,
    pool: {
      entries: new PostgresEntries(parts),
      browse: new PostgresBrowse(parts),
      dead: new PostgresDead(parts),
      progress: new PostgresProgress(parts),
      control: new PostgresControl(parts),
      putsAtOnce: address.max - VITAL,
    },
    log: new PostgresLog(parts),
    mover: new PostgresMover(parts),
    arrivals: new PostgresArrivals({ ...parts, life, address: address.shown }),
    fences: new PostgresFences(vital),
    roster: new PostgresRoster({ ...parts, connections: vital }),
    locks: new PostgresLocks(work),
    async pulse(request) {
      const answer = await pulse({ ...parts, life, beats, connections: vital }, request)
      housekeeping.begin()
      return { ...answer, refusal: work.refusal }
    },
    inspect: () => inspect({ connections: work, schema: address.schema, isDirect: hints.isDirect }),
    watch: (listener) => hints.watch(listener),
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** What was put is due from then on; after a time of which nothing is known nothing is known. */
function lower(watermarks: DueWatermarks, pools: Pools, hint: Hint): void {
  if (hint.kind === 'foreign') watermarks.forget()
  if (hint.kind !== 'put') return
  const pool = pools.find(hint.pool)
  if (pool !== undefined) watermarks.lower(pool.id, hint.dueAt)
}

interface Connected {
  work: Connections
  vital: Connections
  hints: Hints
  queries: Queries
  /** A name for this opening of the store. */
  opening: string
  generation: string
}

/** Opens the connections, and brings the schema up to date. */
async function connect(address: Address, { clock, telemetry }: StoreContext): Promise<Connected> {
  const driver = await loadDriver()
  const queries = new Queries(address.schema)
  const poolOf = (max: number): ReturnType<typeof driver.createPool> =>
    driver.createPool({ ...configOf(address), max })
  const pool = poolOf(address.max - VITAL)
  const shared = { queries, clock, telemetry, address: address.shown }
  const work = new Connections({ ...shared, pool, canGrow: true })
  try {
    const found = await migrate(pool, queries, address.shown, clock)
    telemetry.emit('store.migrated', { from: found, to: latestVersion() })
    const { generation } = await findLife(work, queries)
    const [row] = await work.query('opening', [], READ)
    const opening = row?.['opening'] as string
    const vital = new Connections({ ...shared, pool: poolOf(VITAL), canGrow: false })
    const hints = new Hints({
      connections: work,
      queries,
      clock,
      telemetry,
      opening,
      createClient: (config) => driver.createClient(config),
      config: configOf(address),
    })
    await hints.listen()
    if (hints.isDirect === true) work.allowNames()
    return { work, vital, hints, queries, opening, generation }
  } catch (error) {
    await work.close()
    throw toHeadraceError(error, address.shown)
  }
}

function configOf({ connection }: Address): PoolConfig {
  return {
    connectionString: connection,
    application_name: 'headrace',
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    allowExitOnIdle: true,
  }
}
