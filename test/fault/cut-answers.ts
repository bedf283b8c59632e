// Connections that are cut between a write and its answer, again and again: what the library was answered is in the tables
// once. The tables are read past the proxy, by SQL that is not the product's.
import { type Pool, type Ticks, type Topic, headrace } from '../../src/index.ts'
import { type Random, createRandom } from '../../src/random.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { until } from './until.ts'

export type Kind = 'put' | 'commit' | 'append' | 'move'

export interface CutAnswers {
  seed: number
  /** How many of each kind were cut. */
  cuts: Record<Kind, number>
  /** Everything that was answered wrongly, or stands in the tables otherwise than it was answered. */
  wrong: string[]
}

const KINDS: readonly Kind[] = ['put', 'commit', 'append', 'move']
const HOUR_MS = 3_600_000
const WITHIN_MS = 20_000
/** Time enough to be answered before the ticks are due. */
const DUE_IN_MS = 100

/** Cuts so many answers: one of each kind, then of those that the seed chooses. */
export async function cutAnswers(
  count: number,
  progress: (text: string) => void = () => undefined,
): Promise<CutAnswers> {
  const server = (await startPostgres(18)) ?? (await startPostgres(15))
  if (server === null) throw new Error('there is no PostgreSQL here: npm run provision installs it')
  const proxy = await startProxy(server.port)
  try {
    const address = new URL(server.url())
    address.port = String(proxy.port)
    await using race = await headrace({ store: address.href })
    const pool = race.pool('cuts', { partitions: 4 })
    const topic = race.topic('cuts', { partitions: 4 })
    const ticks = race.ticks('ticks', { partitions: 4 })
    await race.start()
    const scene = new Scene({ server, proxy, pool, topic, ticks })
    const cuts = { put: 0, commit: 0, append: 0, move: 0 }
    // A move that found nothing may be the one that is cut: that is no cut of a write.
    for (let nth = 0; sum(cuts) < count && nth < 2 * count; nth++) {
      const kind = KINDS[nth] ?? scene.random.pick(KINDS)
      if (await scene.cut(kind, nth)) cuts[kind] += 1
      progress(`cut ${sum(cuts)} of ${count}: ${kind}`)
    }
    return { seed: scene.seed, cuts, wrong: [...scene.wrongAnswers, ...(await scene.wrongRows())] }
  } finally {
    await proxy.close()
    await server.remove()
  }
}

export function sum(cuts: Record<Kind, number>): number {
  return KINDS.reduce((total, kind) => total + cuts[kind], 0)
}

interface SceneParts {
  server: PostgresServer
  proxy: Proxy
  pool: Pool
  topic: Topic
  ticks: Ticks
}

/** What was written so far, as it was answered. */
class Scene {
  readonly seed = Math.floor(Math.random() * 2 ** 31)
  readonly random: Random = createRandom(this.seed)
  readonly wrongAnswers: string[] = []
  readonly #parts: SceneParts
  readonly #tallies = new Map<string, number>()
  readonly #offsets = new Map<number, number>()
  readonly #keys = { cuts: [] as string[], ticks: [] as string[] }
  readonly #dueAt = Date.now() + HOUR_MS

  constructor(parts: SceneParts) {
    this.#parts = parts
  }

  /** Answers whether a write was cut from its answer. */
  async cut(kind: Kind, nth: number): Promise<boolean> {
    if (kind === 'append') await this.#append(nth)
    else if (kind === 'move') return this.#move(nth)
    else await this.#put(kind, nth)
    return true
  }

  /** Some keys, each once; for a transaction the first of them three times. */
  async #put(kind: 'put' | 'commit', nth: number): Promise<void> {
    const keys = this.#some((index) => `key-${(nth * 7 + index) % 20}`)
    if (kind === 'commit') keys.push(keys[0] as string, keys[0] as string)
    const payload = { cut: nth }
    const puts = keys.map((key) => ({ key, at: this.#dueAt, payload }))
    const isCut = this.#cutAt(kind === 'commit' ? 'COMMIT' : JSON.stringify(payload))
    for (const [index, { tally }] of (await this.#parts.pool.putAll(puts)).entries()) {
      const key = keys[index] as string
      const expected = (this.#tallies.get(key) ?? 0) + 1
      if (tally !== expected) this.wrongAnswers.push(`${key} was answered ${tally}, not ${expected}`)
      this.#tallies.set(key, expected)
    }
    await isCut()
  }

  async #append(nth: number): Promise<void> {
    const keys = this.#some((index) => `event-${nth}-${index}`)
    const events = keys.map((key) => ({ key, id: key, value: nth }))
    const isCut = this.#cutAt(`event-${nth}-0`)
    for (const [index, { partition, offset }] of (await this.#parts.topic.append(...events)).entries()) {
      const expected = this.#offsets.get(partition) ?? 0
      if (offset !== expected) this.wrongAnswers.push(`${keys[index]} is at ${offset}, not ${expected}`)
      this.#offsets.set(partition, expected + 1)
    }
    this.#keys.cuts.push(...keys)
    await isCut()
  }

  /** Whether ticks had moved when the answer was cut. A failed move is tried again 50 ms later at the earliest. */
  async #move(nth: number): Promise<boolean> {
    const keys = this.#some((index) => `tick-${nth}-${index}`)
    const isCut = this.#cutAt('"headrace".wait_for(')
    await this.#parts.ticks.pool.putAll(keys.map((key) => ({ key, in: DUE_IN_MS })))
    this.#keys.ticks.push(...keys)
    await isCut()
    const hadMoved = (await this.#moved(keys)) > 0
    await until('every tick has moved', async () => (await this.#moved(keys)) >= keys.length, WITHIN_MS)
    return hadMoved
  }

  async #moved(keys: readonly string[]): Promise<number> {
    const [row] = await this.#parts.server.run(
      'select count(*)::integer as count from headrace.event where key = any($1)',
      [keys],
    )
    return Number(row?.['count'])
  }

  #some(name: (index: number) => string): string[] {
    return Array.from({ length: 1 + this.random.below(4) }, (_, index) => name(index))
  }

  /** Arms the proxy; what it returns waits for the cut. */
  #cutAt(text: string): () => Promise<void> {
    let isCut = false
    void this.#parts.proxy.cutAnswerTo(text).then(() => (isCut = true))
    return () => until(`the answer to ${text} is cut`, () => isCut, WITHIN_MS)
  }

  async wrongRows(): Promise<string[]> {
    const { server } = this.#parts
    const entries = await server.run(
      `select p.name || '/' || e.key as name, e.tally + coalesce(e.after_tally, 0) as tally
       from headrace.entry e join headrace.pool p on p.id = e.pool`,
    )
    const tallies = new Map(entries.map(({ name, tally }) => [String(name), Number(tally)]))
    const expected = new Map([...this.#tallies].map(([key, tally]) => [`cuts/${key}`, tally]))
    const events = (await server.run(
      `select t.name, e.partition, e.event_offset::float8 as offset, e.key, h.next::float8 as next
       from headrace.event e join headrace.topic t on t.id = e.topic
         join headrace.head h on h.topic = e.topic and h.partition = e.partition
       order by t.name, e.partition, e.event_offset`,
    )) as unknown as EventRow[]
    return [
      ...differences(tallies, expected),
      ...differences(countKeys(events), new Map([...this.#allKeys()].map((key) => [key, 1]))),
      ...gaps(events),
    ]
  }

  #allKeys(): string[] {
    return Object.entries(this.#keys).flatMap(([topic, keys]) => keys.map((key) => `${topic}/${key}`))
  }
}

interface EventRow {
  name: string
  partition: number
  offset: number
  key: string
  next: number
}

function countKeys(events: readonly EventRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { name, key } of events) counts.set(`${name}/${key}`, (counts.get(`${name}/${key}`) ?? 0) + 1)
  return counts
}

function differences(found: ReadonlyMap<string, number>, expected: ReadonlyMap<string, number>): string[] {
  const names = new Set([...found.keys(), ...expected.keys()])
  return [...names]
    .map((name) => ({ name, is: found.get(name) ?? 0, not: expected.get(name) ?? 0 }))
    .filter(({ is, not }) => is !== not)
    .map(({ name, is, not }) => `${name} stands for ${is}, not ${not}`)
}

/** Offsets that do not run from 0 to the head. */
function gaps(events: readonly EventRow[]): string[] {
  const partitions = Map.groupBy(events, ({ name, partition }) => `${name}/${partition}`)
  return [...partitions].flatMap(([name, own]) => {
    const isWhole = own.every(({ offset, next }, index) => offset === index && next === own.length)
    return isWhole ? [] : [`${name} has offsets ${own.map(({ offset }) => offset).join(' ')}`]
  })
}
