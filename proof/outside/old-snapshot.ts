// Members on a PostgreSQL server whose index of due times holds millions of removed entries, since a snapshot is open: how
// long a new member takes to its first run, and for how long runs stop while partitions are taken over again and again.
import { Client } from 'pg'
import { examineStore } from '../../src/cli/store-doctor.ts'
import { systemClock } from '../../src/clock.ts'
import { type Headrace, headrace } from '../../src/headrace.ts'
import { makeDead } from '../../test/servers/dead-entries.ts'
import { startPostgres } from '../../test/servers/postgres.ts'

export interface OldSnapshot {
  dead: number
  /** From the start of the first member to its first run, of what is due now and of what was due before all came to life. */
  firstRunMs: number
  firstOldMs: number
  /** The longest time without a run while puts went on. */
  longestStopMs: number
  runs: number
  /** What doctor said of the transaction. */
  horizon: string
}

const POOL = 'work'
const PARTITIONS = 8
const PUT_EVERY_MS = 50
const TAKE_OVERS = 3
const WITHIN_MS = 120_000

export async function withOldSnapshot(
  { dead }: { dead: number },
  progress: (text: string) => void,
): Promise<OldSnapshot> {
  const server = await startPostgres(15, { fsync: false })
  if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  const holder = new Client({ connectionString: server.url(), application_name: 'a long dump' })
  try {
    const user = await headrace({ store: server.url(), join: 'no' })
    const pool = user.pool(POOL, { partitions: PARTITIONS })
    await user.start()
    await pool.put('old')
    await holder.connect()
    await holder.query('begin isolation level repeatable read; select from pg_class limit 1')
    const schema = 'headrace'
    await makeDead(
      server,
      { schema, pool: POOL, partitions: PARTITIONS, count: dead, withinMs: 1_800_000 },
      progress,
    )
    await server.run(`update headrace.entry set due_at = headrace.now_ms() - 19000 where key = 'old'`)
    const watched = await watch(server.url(), (key) => pool.put(key), progress)
    await user.stop()
    const { findings } = await examineStore(server.url(), systemClock)
    const horizon = findings.find(({ check }) => check === 'horizon')?.detail ?? 'nothing'
    return { dead, ...watched, horizon }
  } finally {
    await holder.end().catch(() => undefined)
    await server.remove()
  }
}

type Watched = Omit<OldSnapshot, 'dead' | 'horizon'>

async function watch(
  store: string,
  put: (key: string) => Promise<unknown>,
  progress: (text: string) => void,
): Promise<Watched> {
  const runs: { key: string; at: number }[] = []
  const open = async (): Promise<Headrace> => {
    const race = await headrace({ store, partitions: PARTITIONS })
    race.work(race.pool(POOL, { partitions: PARTITIONS }), ({ key }) => {
      runs.push({ key, at: systemClock.mono() })
    })
    await race.start()
    return race
  }
  let puts = 0
  const putting = setInterval(() => void put(`new-${(puts += 1)}`).catch(() => undefined), PUT_EVERY_MS)
  const beganAt = systemClock.mono()
  const first = await open()
  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    while (!isSo() && systemClock.mono() < beganAt + WITHIN_MS) await systemClock.sleep(50)
    progress(what)
  }
  await until('the first run', () => runs.length > 0)
  await until('the run that waited', () => runs.some(({ key }) => key === 'old'))
  for (let times = 0; times < TAKE_OVERS; times += 1) {
    const second = await open()
    const before = runs.length
    await until('a second member joined', () => runs.length > before + 100)
    await second.stop()
    await until('it left', () => runs.length > before + 300)
  }
  clearInterval(putting)
  await first.stop()
  const times = [beganAt, ...runs.map(({ at }) => at)]
  const stops = times.slice(1).map((at, nth) => at - (times[nth] as number))
  return {
    firstRunMs: (runs[0]?.at ?? Infinity) - beganAt,
    firstOldMs: (runs.find(({ key }) => key === 'old')?.at ?? Infinity) - beganAt,
    longestStopMs: Math.max(...stops.slice(1)),
    runs: runs.length,
  }
}
