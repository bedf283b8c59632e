// Three processes work on pools that are limited, 5 at once of each group and 50 starts a second in all, with always enough
// to do. First they are left alone, then one after another is killed or stopped, and another started. Judged by a table
// that the handlers write, on a PostgreSQL server that is not the store.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from 'pg'
import { headrace } from '../../src/headrace.ts'
import { createRandom } from '../../src/random.ts'
import type { PostgresServer } from '../servers/postgres.ts'
import {
  type Span,
  type WitnessedRun,
  mostAtOnce,
  mostStartsWithin,
  startsPerSecond,
  underWayOnAverage,
} from './check-limits.ts'
import { until } from './until.ts'

export interface LimitsRace {
  /** The address of an empty store. */
  store: string
  witness: PostgresServer
  kills: number
  /** How long the members are left alone, after they have begun. */
  aloneMs: number
  leaseMs: number
  seed: number
  progress?(text: string): void
}

export interface LimitsVerdict {
  seed: number
  /** The most starts of any pool in any second, and the most runs of any group at once. */
  mostStarts: number
  mostAtOnce: number
  /** Starts a second, where only the rate binds; runs of a group at once, where only that limit does. */
  startsPerSecond: number
  atOnce: number
  runs: number
  kills: number
  stops: number
  /** How far the witness's times are off at most. */
  precisionMs: number
}

/** What one process is told. */
export interface WitnessedWork {
  store: string
  witness: string
  table: string
  member: string
  leaseMs: number
  pools: readonly PoolOfRace[]
}

interface PoolOfRace {
  name: string
  takesMs: number
  concurrency: number
}

interface Seen extends WitnessedRun {
  pool: string
  precisionMs: number
}

export const AT_ONCE = 5
export const STARTS = 50
const SPAN_MS = 1000
const MEMBERS = 3
const TABLE = 'witnessed'
/** Groups of the pools: in `groups` they can start 20 runs a second at most, in `both` a few more than the rate allows. */
const GROUPS = { groups: 4, both: 12 }
const POOLS: readonly PoolOfRace[] = [
  { name: 'rate', takesMs: 20, concurrency: 10 },
  { name: 'groups', takesMs: 1000, concurrency: 20 },
  { name: 'both', takesMs: 1000, concurrency: 60 },
]
const READY_WITHIN_MS = 30_000
/** After it has begun the members may still hand partitions and shares to each other. */
const BEGIN_MS = 2000
/** So many runs of each pool start between two kills. */
const RUNS_BETWEEN = 20
const GOES_ON_WITHIN_MS = 60_000
/** Every fourth is stopped, the others are killed. */
const STOP_EVERY = 4

export async function raceLimits(race: LimitsRace): Promise<LimitsVerdict> {
  const { kills, aloneMs, seed, progress } = race
  await fill(race)
  const random = createRandom(seed)
  const crew = await Crew.of(race)
  try {
    await Promise.all(Array.from({ length: MEMBERS }, () => crew.add()))
    await crew.goesOn('it has begun')
    const from = (await crew.now()) + BEGIN_MS
    await until('it was left alone', async () => (await crew.now()) >= from + aloneMs, aloneMs * 2 + 30_000)
    let stops = 0
    for (let nth = 1; nth <= kills; nth += 1) {
      const isStop = nth % STOP_EVERY === 0
      await crew.end(random.below(MEMBERS), isStop ? 'SIGTERM' : 'SIGKILL')
      stops += isStop ? 1 : 0
      // By turns another comes at once, or when the others have taken over.
      if (nth % 2 === 1) await crew.goesOn(`work goes on after kill ${nth}`)
      await crew.add()
      await crew.goesOn(`work goes on before kill ${nth + 1}`)
      progress?.(`kill ${nth} of ${kills}`)
    }
    const verdict = judge(await crew.seen(), { from, until: from + aloneMs })
    return { seed, ...verdict, kills: kills - stops, stops }
  } finally {
    await crew.endAll()
  }
}

function judge(runs: readonly Seen[], alone: Span): Omit<LimitsVerdict, 'seed' | 'kills' | 'stops'> {
  const precisionMs = Math.max(...runs.map((run) => run.precisionMs))
  const of = (pool: string): Seen[] => runs.filter((run) => run.pool === pool)
  const worst = (count: (runs: Seen[]) => number): number =>
    Math.max(...POOLS.map(({ name }) => count(of(name))))
  return {
    // Two times may be off by as much, in opposite directions: a breach that is counted is one.
    mostStarts: worst((all) => mostStartsWithin(all, SPAN_MS - 2 * precisionMs)),
    mostAtOnce: worst(mostAtOnce),
    startsPerSecond: startsPerSecond(of('rate'), alone),
    atOnce: underWayOnAverage(of('groups'), alone) / GROUPS.groups,
    runs: runs.length,
    precisionMs,
  }
}

/** Puts so much that it lasts until the end. */
async function fill({ store, kills, aloneMs }: LimitsRace): Promise<void> {
  const race = await headrace({ store, partitions: 12, join: 'no' })
  const runs = Math.ceil((aloneMs / 1000 + 20 + kills * 15) * STARTS)
  for (const { name } of POOLS) {
    const pool = race.pool(name)
    const groups = name === 'rate' ? runs : GROUPS[name as keyof typeof GROUPS]
    const puts = Array.from({ length: runs }, (_, nth) => {
      const group = `g${nth % groups}`
      return { key: `${group}/${nth}`, group }
    })
    for (let at = 0; at < puts.length; at += 1000) await pool.putAll(puts.slice(at, at + 1000))
    await pool.limit({
      group: { concurrency: AT_ONCE },
      pool: { rate: { count: STARTS, per: SPAN_MS } },
    })
  }
  await race.stop()
}

/** The processes, and what they told. */
class Crew {
  readonly #race: LimitsRace
  readonly #members: { name: string; child: ChildProcess }[] = []
  /** When a process was killed, by the witness's clock: its runs ended then. */
  readonly #killedAt = new Map<string, number>()
  readonly #client: Client
  #added = 0

  private constructor(race: LimitsRace, client: Client) {
    this.#race = race
    this.#client = client
  }

  /** One that has a table, and nobody in it. */
  static async of(race: LimitsRace): Promise<Crew> {
    const client = new Client({ connectionString: race.witness.url() })
    await client.connect()
    await client.query(
      `create table ${TABLE} (id bigserial primary key, member text, pool text, grp text,
       called float8, precision float8, ended float8)`,
    )
    return new Crew(race, client)
  }

  async add(): Promise<void> {
    const { store, witness, leaseMs } = this.#race
    this.#added += 1
    const name = `m${this.#added}`
    const work: WitnessedWork = {
      store,
      witness: witness.url(),
      table: TABLE,
      member: name,
      leaseMs,
      pools: POOLS,
    }
    const program = join(import.meta.dirname, 'work-witnessed.ts')
    const child = spawn(process.execPath, [program, JSON.stringify(work)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#members.push({ name, child })
    await once(child, 'message', { signal: AbortSignal.timeout(READY_WITHIN_MS) })
  }

  async end(nth: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const [member] = this.#members.splice(nth, 1)
    if (member === undefined || member.child.exitCode !== null) return
    if (signal === 'SIGKILL') this.#killedAt.set(member.name, await this.now())
    const ended = once(member.child, 'exit')
    member.child.kill(signal)
    await ended
  }

  async endAll(): Promise<void> {
    while (this.#members.length > 0) await this.end(0, 'SIGKILL')
    await this.#client.end()
  }

  async now(): Promise<number> {
    return Number((await this.#ask('select extract(epoch from clock_timestamp()) * 1000 as now'))[0]?.['now'])
  }

  /** Waits until so many more runs of every pool have started. */
  async goesOn(what: string): Promise<void> {
    const count = async (): Promise<number[]> => {
      const rows = await this.#ask(`select pool, count(*) as runs from ${TABLE} group by pool`)
      return POOLS.map(({ name }) => Number(rows.find(({ pool }) => pool === name)?.['runs'] ?? 0))
    }
    const before = await count()
    const isOn = async (): Promise<boolean> =>
      (await count()).every((runs, nth) => runs >= (before[nth] as number) + RUNS_BETWEEN)
    await until(what, isOn, GOES_ON_WITHIN_MS)
  }

  async seen(): Promise<Seen[]> {
    const rows = await this.#ask(`select * from ${TABLE}`)
    return rows.map(({ member, pool, grp, called, precision, ended }) => ({
      pool: String(pool),
      group: String(grp),
      calledAt: Number(called),
      endedAt: ended === null ? (this.#killedAt.get(String(member)) ?? Infinity) : Number(ended),
      precisionMs: Number(precision),
    }))
  }

  async #ask(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#client.query<Record<string, unknown>>(sql)).rows
  }
}
