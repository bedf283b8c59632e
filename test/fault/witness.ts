// What the scenarios share: a folder of its own, the ticks to post, and the verdict when all is quiet.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Random, createRandom } from '../../src/random.ts'
import { type Findings, checkTicks } from './check-ticks.ts'
import type { NewTick, PostRecord } from './load.ts'
import type { ServerProcess } from './server-process.ts'
import { fileReader } from './store-file.ts'
import type { StoreReader } from './store-reader.ts'
import { until } from './until.ts'

const HOUR_MS = 3_600_000
const FIRED_WITHIN_MS = 60_000

export interface Verdict {
  findings: Findings
  posted: number
  acknowledged: number
  unanswered: number
  refused: number
  events: number
  waiting: number
}

interface WitnessParts {
  file: string
  reader: StoreReader
  remove(): Promise<void>
}

/** The record of one scenario: every post, and the store that must agree with it. */
export class Witness {
  /** The path of the SQLite file, where the store is one. */
  readonly file: string
  readonly history: PostRecord[] = []
  readonly random: Random
  readonly seed: number
  readonly #reader: StoreReader
  readonly #remove: () => Promise<void>
  #count = 0

  private constructor({ file, reader, remove }: WitnessParts) {
    this.file = file
    this.#reader = reader
    this.#remove = remove
    this.seed = Math.floor(Math.random() * 2 ** 31)
    this.random = createRandom(this.seed)
  }

  /** In a new folder, or in one that the caller keeps. */
  static async create({ folder }: { folder?: string } = {}): Promise<Witness> {
    const kept = folder !== undefined
    const home = folder ?? (await mkdtemp(join(tmpdir(), 'headrace-fault-')))
    const file = join(home, 'headrace.db')
    const remove = async (): Promise<void> => {
      if (!kept) await rm(home, { recursive: true })
    }
    return new Witness({ file, reader: fileReader(file), remove })
  }

  /** Of a store that the caller looks after. */
  static of(reader: StoreReader): Witness {
    return new Witness({ file: '', reader, remove: () => Promise.resolve() })
  }

  /** Ticks that are due at once, soon, or (one in fifty) in an hour: those must be waiting at the end. */
  readonly next = (): NewTick => {
    const item = `item-${this.#count++}`
    const now = Date.now()
    const chance = this.random.next()
    if (chance < 0.02) return { item, at: now + HOUR_MS + this.random.below(HOUR_MS) }
    if (chance < 0.2) return { item, at: now - this.random.below(2000) }
    return { item, at: now + this.random.below(1500) }
  }

  /** Waits until every acknowledged tick that was due has fired, and compares; the servers must live through it. */
  async judge(...servers: ServerProcess[]): Promise<Verdict> {
    const dueBefore = Date.now() + 2000
    await until('all that is due has fired', () => this.#settled(dueBefore), FIRED_WITHIN_MS).catch(
      () => undefined,
    )
    if (!servers.every(({ running }) => running)) throw new Error('the server has ended by itself')
    const { events, waiting } = await this.#reader.read()
    const count = (outcome: PostRecord['outcome']): number =>
      this.history.filter((post) => post.outcome === outcome).length
    return {
      findings: checkTicks({ posts: this.history, events, waiting, dueBefore }),
      posted: this.history.length,
      acknowledged: count('ok'),
      unanswered: count('info'),
      refused: count('fail'),
      events: events.length,
      waiting: waiting.size,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remove()
  }

  /** Two looks are needed: what is due must be past its time, and then gone from the pool. */
  async #settled(dueBefore: number): Promise<boolean> {
    if (Date.now() < dueBefore) return false
    const waiting = await this.#reader.waiting()
    const { stuck } = checkTicks({ posts: [], events: [], waiting, dueBefore })
    return stuck.length === 0
  }
}
