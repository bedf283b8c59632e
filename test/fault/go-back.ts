// A PostgreSQL store goes back under living members: a lagging replica is promoted, a base backup is started in its place, or
// a dump is restored. Judged from outside: what each handler was given, and the tables themselves.
import { Client } from 'pg'
import { type Headrace, headrace } from '../../src/headrace.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { until } from './until.ts'

export type Way = 'a lagging replica is promoted' | 'a base backup is started' | 'a dump is restored'

export const WAYS: readonly Way[] = [
  'a lagging replica is promoted',
  'a base backup is started',
  'a dump is restored',
]

export interface WentBack {
  /** Keys that were answered before and were in flight when the store went back; how many of them it lost. */
  inFlight: number
  lost: number
  /** Keys that were answered afterwards. */
  answered: number
  /** Calls afterwards that failed, and were made again. */
  failed: number
  /** What must not be. */
  wrong: string[]
}

interface Given {
  pool: string
  payload: { pool: string; round: string }
  at: number
}

/** How a store goes back: what is done first, and what is done later, when more was answered. */
interface Journey {
  depart(): Promise<void>
  arrive(): Promise<void>
  end(): Promise<void>
}

const SCHEMA = 'headrace'
const WITHIN_MS = 60_000
/** Those that the store has from the beginning, and those that it has not where it goes back to. */
const OLD = ['old', 'other']
const LATE = ['late', 'later']

export async function goBack(way: Way, load: { inFlight: number; keys: number }): Promise<WentBack | null> {
  const settings = { synchronous_commit: 'on' }
  const primary = await startPostgres(15, { fsync: false, settings })
  if (primary === null) return null
  const proxy = await startProxy(primary.port)
  const journey = journeyOf(way, primary, proxy)
  const url = new URL(primary.url({ schema: SCHEMA }))
  url.port = String(proxy.port)
  const members = [await headrace({ store: url.href }), await headrace({ store: url.href })]
  const trip = new Trip(members, journey, url.href)
  try {
    return await trip.make(load)
  } finally {
    trip.release()
    await Promise.all(members.map((member) => member.stop()))
    await proxy.close()
    await journey.end()
    await primary.remove()
  }
}

function journeyOf(way: Way, primary: PostgresServer, proxy: Proxy): Journey {
  let dumped = ''
  let copy: PostgresServer | null = null
  const depart = {
    'a dump is restored': async () => void (dumped = primary.dump(SCHEMA)),
    'a base backup is started': async () => void (copy = await primary.backUp('base')),
    'a lagging replica is promoted': async () => {
      copy = await primary.backUp('replica')
      await untilFollows(primary, copy)
      // From here on it lags.
      await copy.run(`alter system set primary_conninfo = ''`)
      await copy.run('select pg_reload_conf()')
      await until('the replica hears nothing', () => hearsNothing(copy), WITHIN_MS)
    },
  }
  const arrive = {
    'a dump is restored': () => primary.restore(SCHEMA, dumped),
    'a base backup is started': async () => {
      await primary.stop()
      await copy?.start()
    },
    'a lagging replica is promoted': async () => {
      await primary.stop()
      await copy?.run('select pg_promote()')
      proxy.leadTo(copy?.port ?? 0)
    },
  }
  return { depart: depart[way], arrive: arrive[way], end: async () => copy?.remove() }
}

async function untilFollows(primary: PostgresServer, replica: PostgresServer): Promise<void> {
  const [row] = await primary.run('select pg_current_wal_lsn()::text as lsn')
  const lsn = String(row?.['lsn'])
  await until(
    'the replica has come as far',
    async () => {
      const [answer] = await replica.run('select pg_last_wal_replay_lsn() >= $1::pg_lsn as ok', [lsn])
      return answer?.['ok'] === true
    },
    WITHIN_MS,
  )
}

async function hearsNothing(replica: PostgresServer | null): Promise<boolean> {
  const rows = (await replica?.run('select 1 as one from pg_stat_wal_receiver')) ?? []
  return rows.length === 0
}

class Trip {
  readonly #members: readonly Headrace[]
  readonly #journey: Journey
  readonly #url: string
  /** By the key: every run of it. */
  readonly #given = new Map<string, Given[]>()
  readonly #wrong: string[] = []
  #open: () => void = () => undefined
  readonly #gate = new Promise<void>((resolve) => (this.#open = resolve))
  /** By the key: when its last answered put was sent. */
  readonly #sentAt = new Map<string, number>()
  #failed = 0
  /** How many members have found that the store went back. */
  #found = 0

  constructor(members: readonly Headrace[], journey: Journey, url: string) {
    this.#members = members
    this.#journey = journey
    this.#url = url
  }

  async make({ inFlight, keys }: { inFlight: number; keys: number }): Promise<WentBack> {
    const concurrency = inFlight
    for (const name of OLD) this.#work(name, concurrency)
    for (const member of this.#members) member.topic('old-topic', { partitions: 4 })
    await Promise.all(this.#members.map((member) => member.start()))
    // In flight when the store departs, so that it has them where it goes back to.
    await this.#put(OLD, 'first', inFlight / 2)
    await this.#untilGiven(inFlight / 2)
    await this.#journey.depart()
    for (const name of LATE) this.#work(name, concurrency)
    for (const member of this.#members) await member.topic('late-topic', { partitions: 4 }).open()
    // Both puts of these are seen by one run: their tally is one that the store will not have.
    await this.#put([...OLD, ...LATE], 'second', inFlight / 2)
    await this.#untilGiven(inFlight)
    for (const { telemetry } of this.#members) telemetry.on('store.went-back', () => void (this.#found += 1))
    await this.#journey.arrive()
    const putting = this.#put([...OLD, ...LATE], 'third', keys)
    // Runs of before end while new keys come, some under the same names.
    this.release()
    await putting
    await this.#put([...OLD, ...LATE], 'first', inFlight / 2)
    await this.#append(Math.ceil(keys / 10))
    await until('both members have found out', () => this.#found >= this.#members.length, WITHIN_MS)
    const lost = await this.#judge()
    if (this.#found !== this.#members.length) this.#wrong.push(`${this.#found} generations began`)
    return {
      inFlight,
      lost,
      answered: [...this.#sentAt].length,
      failed: this.#failed,
      wrong: this.#wrong,
    }
  }

  /** Lets the runs of before end. */
  release(): void {
    this.#open()
  }

  #work(name: string, concurrency: number): void {
    for (const member of this.#members) {
      const handler = async ({ key, payload }: { key: string; payload: Given['payload'] }): Promise<void> => {
        const given = this.#given.get(key) ?? []
        given.push({ pool: name, payload, at: performance.now() })
        this.#given.set(key, given)
        if (payload.pool !== name) this.#wrong.push(`${name} was given ${key} of ${payload.pool}`)
        await this.#gate
      }
      member.work<Given['payload']>(member.pool(name, { partitions: 8 }), handler, { concurrency })
    }
  }

  /** Puts keys into the pools in turns, by both members; what fails is put again. */
  async #put(pools: readonly string[], round: string, count: number): Promise<void> {
    const all = Array.from({ length: count }, (_, nth) => ({
      nth,
      pool: pools[nth % pools.length] as string,
    }))
    const size = 100
    for (let first = 0; first < count; first += size) {
      const part = Map.groupBy(all.slice(first, first + size), ({ pool }) => pool)
      await Promise.all([...part].map(([pool, rows]) => this.#putSome(pool, round, rows)))
    }
  }

  async #putSome(name: string, round: string, rows: readonly { nth: number }[]): Promise<void> {
    const member = this.#members[(rows[0]?.nth ?? 0) % 2] as Headrace
    const items = rows.map(({ nth }) => ({ key: `${name}/${round}/${nth}`, payload: { pool: name, round } }))
    const deadline = performance.now() + WITHIN_MS
    for (;;) {
      const sentAt = performance.now()
      try {
        await member.pool(name, { partitions: 8 }).putAll(items)
        for (const { key } of items) this.#sentAt.set(key, sentAt)
        return
      } catch (error) {
        if (performance.now() > deadline) throw error
        this.#failed += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  async #append(count: number): Promise<void> {
    for (const name of ['old-topic', 'late-topic']) {
      const topic = this.#members[0]?.topic(name, { partitions: 4 })
      const events = Array.from({ length: count }, (_, nth) => ({ key: `${nth}`, value: { topic: name } }))
      for (const event of events) await topic?.append(event)
    }
  }

  #untilGiven(count: number): Promise<void> {
    return until(`${count} keys are in flight`, () => this.#given.size >= count, WITHIN_MS)
  }

  /** Waits until nothing is left, and looks at everything; answers how many keys of before are gone without a trace. */
  async #judge(): Promise<number> {
    const after = [...this.#sentAt].filter(([key]) => !key.includes('/second/'))
    const hasRun = ([key, sentAt]: [string, number]): boolean =>
      (this.#given.get(key) ?? []).some(({ at }) => at >= sentAt)
    const client = new Client({ connectionString: this.#url.replace(/\?.*/, '') })
    await client.connect()
    const left = async (): Promise<number> => {
      const { rows } = await client.query<{ count: string }>('select count(*) from headrace.entry')
      return Number(rows[0]?.count)
    }
    const isOver = async (): Promise<boolean> => after.every(hasRun) || (await left()) === 0
    await until('every key has run, or none is left', isOver, WITHIN_MS)
    for (const each of after) if (!hasRun(each)) this.#wrong.push(`${each[0]} is settled, and did not run`)
    await until('nothing is left', async () => (await left()) === 0, WITHIN_MS)
    const { rows } = await client.query<{ name: string; value: string }>(
      'select t.name, e.value from headrace.event e join headrace.topic t on t.id = e.topic',
    )
    for (const { name, value } of rows)
      if ((JSON.parse(value) as { topic: string }).topic !== name) this.#wrong.push(`${name} has ${value}`)
    await client.end()
    const second = [...this.#sentAt.keys()].filter((key) => key.includes('/second/'))
    return second.filter((key) => this.#given.get(key)?.length === 1).length
  }
}
