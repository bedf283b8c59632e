// The race of a pool with an atomic tally: many producers put the same keys that several processes work on, and again and
// again one of these is killed, and another started. Judged by the producers' own counts and the store's tables.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { createRandom } from '../../src/random.ts'
import { startPostgres } from '../servers/postgres.ts'
import { until } from './until.ts'

export interface RaceOptions {
  kills: number
  seed: number
  producers: number
  drainers: number
  keys: number
  progress?: (text: string) => void
}

export interface RaceVerdict {
  seed: number
  puts: number
  /** Runs that settled. */
  settled: number
  /** Keys whose puts are not those that settled runs saw, each with both counts. */
  wrong: string[]
  /** Keys of which something waits, long after the last put and kill. */
  stuck: string[]
}

/** Reads the tables as a stranger would. */
export interface RaceStore {
  address: string
  /** How many runs settled. */
  settled(): Promise<number>
  /** The tallies that settled runs saw, by key. */
  seen(): Promise<Map<string, number>>
  /** The keys of entries that are not dead. */
  live(): Promise<string[]>
  remove(): Promise<void>
}

type Child = ChildProcessByStdio<Writable, Readable, null>

const PRODUCERS_OF_A_PROCESS = 16
const READY_WITHIN_MS = 60_000
const GOES_ON_WITHIN_MS = 30_000
const EMPTY_WITHIN_MS = 60_000
/** So many runs settle between two kills. */
const RUNS_BETWEEN = 40

export async function racePool(store: RaceStore, options: RaceOptions): Promise<RaceVerdict> {
  const { kills, seed, keys, progress } = options
  const random = createRandom(seed)
  const producers: Child[] = []
  const drainers: Child[] = []
  try {
    // The first one makes the pool.
    drainers.push(await startDrainer(store))
    for (let left = options.producers; left > 0; left -= PRODUCERS_OF_A_PROCESS)
      producers.push(await startProducers(store, Math.min(left, PRODUCERS_OF_A_PROCESS), keys))
    while (drainers.length < options.drainers) drainers.push(await startDrainer(store))
    for (let nth = 1; nth <= kills; nth += 1) {
      const before = await store.settled()
      const goesOn = async (): Promise<boolean> => (await store.settled()) >= before + RUNS_BETWEEN
      await until(`work goes on before kill ${nth}`, goesOn, GOES_ON_WITHIN_MS)
      await end(drainers.splice(random.below(drainers.length), 1)[0])
      drainers.push(await startDrainer(store))
      progress?.(`kill ${nth} of ${kills}`)
    }
    const puts = sum(await Promise.all(producers.map(told)))
    const isEmpty = async (): Promise<boolean> => (await store.live()).length === 0
    await until('nothing is left', isEmpty, EMPTY_WITHIN_MS).catch(() => undefined)
    const [seen, settled, live] = [await store.seen(), await store.settled(), await store.live()]
    return { seed, ...judgeRace({ puts, seen, settled, live }) }
  } finally {
    for (const child of [...producers, ...drainers]) await end(child)
  }
}

/** What the producers counted, and what the store's tables say after the last of them. */
export interface RaceRecord {
  puts: Map<string, number>
  seen: Map<string, number>
  settled: number
  live: string[]
}

/** Pure. Every put of a key must be in the tally of exactly one run that settled. [P4] */
export function judgeRace({ puts, seen, settled, live }: RaceRecord): Omit<RaceVerdict, 'seed'> {
  const wrong = [...new Set([...puts.keys(), ...seen.keys()])]
    .filter((key) => puts.get(key) !== seen.get(key))
    .map((key) => `${key}: ${puts.get(key) ?? 0} puts, ${seen.get(key) ?? 0} seen`)
  const total = [...puts.values()].reduce((all, count) => all + count, 0)
  return { puts: total, settled, wrong, stuck: live }
}

function sum(counts: Record<string, number>[]): Map<string, number> {
  const all = new Map<string, number>()
  for (const each of counts)
    for (const [key, count] of Object.entries(each)) all.set(key, (all.get(key) ?? 0) + count)
  return all
}

function startDrainer({ address }: RaceStore): Promise<Child> {
  return start('drain-until-killed.ts', [address])
}

function startProducers({ address }: RaceStore, producers: number, keys: number): Promise<Child> {
  return start('put-until-told.ts', [address, String(producers), String(keys)])
}

async function start(program: string, args: string[]): Promise<Child> {
  const file = join(import.meta.dirname, program)
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(READY_WITHIN_MS) })
  return child
}

/** Ends producers, and answers their counts. */
async function told(child: Child): Promise<Record<string, number>> {
  child.stdin.end()
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return JSON.parse(text) as Record<string, number>
}

async function end(child: Child | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export function openRaceFile(): RaceStore {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-race-'))
  const file = join(folder, 'headrace.db')
  const read = async (sql: string): Promise<Record<string, unknown>[]> => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }
  const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true })
  return { address: `sqlite:${file}`, ...reading(read, ''), remove }
}

export async function openRacePostgres(): Promise<RaceStore> {
  const server = (await startPostgres(18)) ?? (await startPostgres(15))
  if (server === null) throw new Error('there is no PostgreSQL here: npm run provision installs it')
  return {
    address: server.url(),
    ...reading((sql) => server.run(sql), 'headrace.'),
    remove: () => server.remove(),
  }
}

function reading(
  read: (sql: string) => Promise<Record<string, unknown>[]>,
  schema: string,
): Pick<RaceStore, 'settled' | 'seen' | 'live'> {
  return {
    settled: async () => Number((await read(`select count(*) as n from ${schema}death`))[0]?.['n']),
    seen: async () => {
      const rows = await read(`select key, sum(seen) as seen from ${schema}death group by key`)
      return new Map(rows.map(({ key, seen }) => [String(key), Number(seen)]))
    },
    live: async () =>
      (await read(`select key from ${schema}entry where state = 'live'`)).map(({ key }) => String(key)),
  }
}
