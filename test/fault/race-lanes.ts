// Floods of one lane, and what becomes of another: how soon an entry of the lane `fanout` starts that is put into a flood of
// `bulk`, and how much `bulk` gets under a flood of `fanout`. Judged by when handlers were called in a process of their own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'
import type { Lane } from '../../src/pool/entry.ts'
import type { Pool } from '../../src/pool/pool.ts'
import { until } from './until.ts'

export interface Call {
  lane: Lane
  key: string
  at: number
}

export interface BulkFlood {
  /** The address of an empty store. */
  store: string
  flood: number
  /** How many entries are put into it, one after another. */
  entries: number
  progress?(text: string): void
}

export interface FanoutFlood {
  store: string
  flood: number
  bulk: number
  forMs: number
}

export interface Flooded {
  /** How many of the flood were left at the end: it lasted as long as was measured. */
  left: number
  /** Handlers called a second. */
  perSecond: number
}

/** From before each put to the call of its handler. */
export interface Started extends Flooded {
  afterMs: number[]
}

/** The parts of all calls that were of the lane `bulk`, second by second, of those in which there were enough. */
export interface Shared extends Flooded {
  shares: number[]
  seconds: number
}

const APART_MS = 100
const BEGUN = 200
const BEGINS_WITHIN_MS = 60_000
const STARTS_WITHIN_MS = 60_000
/** Calls in a second, of up to 1000 that there can be. */
const ENOUGH = 50

export async function floodWithBulk({ store, flood, entries, progress }: BulkFlood): Promise<Started> {
  await using course = await Course.of(store)
  await course.put('bulk', flood)
  const from = await course.begin()
  const putAt: number[] = []
  for (let nth = 0; nth < entries; nth += 1) {
    putAt.push(Date.now())
    await course.pool.put(`fanout-${nth}`, { lane: 'fanout' })
    await systemClock.sleep(APART_MS)
    progress?.(`${nth + 1} of ${entries} entries put`)
  }
  const found = (): Call[] => course.calls.filter(({ lane }) => lane === 'fanout')
  await until('every entry has started', () => found().length >= entries, STARTS_WITHIN_MS)
  const calledAt = new Map(found().map(({ key, at }) => [key, at]))
  const afterMs = putAt.map((at, nth) => (calledAt.get(`fanout-${nth}`) ?? Infinity) - at)
  return { ...(await course.end(from)), afterMs }
}

export async function floodWithFanout({ store, flood, bulk, forMs }: FanoutFlood): Promise<Shared> {
  await using course = await Course.of(store)
  await course.put('bulk', bulk)
  await course.put('fanout', flood)
  const from = await course.begin()
  await systemClock.sleep(forMs)
  const seconds = Math.floor(forMs / 1000)
  return { ...(await course.end(from)), shares: sharesOf(course.calls, { from, seconds }), seconds }
}

/** Of each second the part of the calls that was of the lane `bulk`. One with few says nothing: the process stood still. */
export function sharesOf(
  calls: readonly Call[],
  { from, seconds }: { from: number; seconds: number },
): number[] {
  return Array.from({ length: seconds }, (_, second) =>
    calls.filter(({ at }) => Math.floor((at - from) / 1000) === second),
  )
    .filter((within) => within.length >= ENOUGH)
    .map((within) => within.filter(({ lane }) => lane === 'bulk').length / within.length)
}

/** A pool, and a process that works on it. */
class Course {
  readonly calls: Call[] = []
  readonly pool: Pool
  readonly #store: string
  readonly #stop: () => Promise<void>
  #child: ChildProcess | null = null

  private constructor(store: string, pool: Pool, stop: () => Promise<void>) {
    this.#store = store
    this.pool = pool
    this.#stop = stop
  }

  static async of(store: string): Promise<Course> {
    const race = await headrace({ store, join: 'no' })
    return new Course(store, race.pool('work'), () => race.stop())
  }

  async put(lane: Lane, count: number): Promise<void> {
    for (let from = 0; from < count; from += 1000) {
      const nths = Array.from({ length: Math.min(1000, count - from) }, (_, nth) => from + nth)
      await this.pool.putAll(nths.map((nth) => ({ key: `${lane}-of-flood-${nth}`, lane })))
    }
  }

  /** Begins to work; answers when work was well under way. */
  async begin(): Promise<number> {
    const program = join(import.meta.dirname, 'work-lanes.ts')
    const child = spawn(process.execPath, [program, this.#store], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child = child
    child.on('message', (calls: [string, number][]) => {
      for (const [key, at] of calls) this.calls.push({ key, at, lane: key.split('-')[0] as Lane })
    })
    await until('work is under way', () => this.calls.length >= BEGUN, BEGINS_WITHIN_MS)
    return Date.now()
  }

  async end(from: number): Promise<Flooded> {
    const { due } = await this.pool.count()
    const [after, until] = [this.calls.filter(({ at }) => at >= from), this.calls.at(-1)?.at ?? from]
    return { left: due, perSecond: Math.round((after.length * 1000) / Math.max(1, until - from)) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child
    if (child !== null && child.exitCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    await this.#stop()
  }
}
