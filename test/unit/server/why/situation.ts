// What a situation is in which `why` is asked: brought about for real, on a server over whichever store, and asked over HTTP.
import assert from 'node:assert/strict'
import { systemClock } from '../../../../src/clock.ts'
import { noFaults } from '../../../../src/fault.ts'
import type { Headrace } from '../../../../src/headrace.ts'
import type { OptionsInput } from '../../../../src/options.ts'
import type { Pool } from '../../../../src/pool/pool.ts'
import type { Handler } from '../../../../src/pool/run.ts'
import type { WorkOptions } from '../../../../src/pool/work-options.ts'
import type { Reason } from '../../../../src/pool/why.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import type { Overrides } from '../../../../src/overrides.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { changed } from '../../open-race.ts'
import { type Answer, type Serving, ask, serve, until } from '../serving.ts'

export interface Situation {
  reason: Reason
  title: string
  /** Brings it about, looks at the evidence, and answers what was told. */
  bring(stage: Stage): Promise<Told>
}

export type Told = Answer['body']

/** A server that works on the pool `vms`. */
export interface Place extends Serving {
  pool: Pool
  why(key: string, more?: string): Promise<Told>
}

interface Work extends WorkOptions {
  handler: Handler
}

/** Where a situation is brought about. Everything that it starts ends with it. */
export class Stage {
  readonly #address: string
  readonly #ends: (() => Promise<void>)[] = []

  constructor(address = 'memory:') {
    this.#address = address
  }

  after(end: () => Promise<void>): void {
    this.#ends.push(end)
  }

  async end(): Promise<void> {
    for (const end of this.#ends.toReversed()) await end()
  }

  /** A server; one that works where a handler is given. */
  async serve(work: Work | null, options: OptionsInput = {}, overrides: Overrides = {}): Promise<Place> {
    const race = { name: 'm1', drainWithin: 0, store: this.#address, ...options }
    const serving = await serve(this, { race }, overrides)
    const pool = serving.race.pool('vms')
    if (work !== null) {
      const { handler, ...rest } = work
      serving.race.work(pool, handler, rest)
    }
    return { ...serving, pool, why: (key, more = '') => askWhy(serving, `pool=vms&key=${key}${more}`) }
  }

  /** The store, with some of it changed, for one server or several. */
  async open(change: (store: Store) => Partial<Store> = () => ({})): Promise<{ store: Store }> {
    const telemetry = createTelemetry(systemClock.id())
    const store = await openStore(this.#address, { clock: systemClock, telemetry, faults: noFaults })
    this.after(() => store.close())
    return { store: changed(store, { ...change(store), close: () => Promise.resolve() }) }
  }
}

export async function askWhy(serving: Serving, query: string): Promise<Told> {
  const { status, body } = await ask(serving, 'GET', `/v1/why?${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Waits until this reason is told, and answers all that was. */
export async function untilReason(asked: () => Promise<Told>, reason: Reason): Promise<Told> {
  let told: Told = {}
  const isTold = async (): Promise<boolean> => {
    told = await asked()
    return told['reason'] === reason
  }
  await until(isTold, `the reason ${reason}, not ${String(told['reason'])}`, 10_000)
  return told
}

/** Asks again while the owner was too slow: it has a second, and this machine may be busy. */
export function inTime(asked: () => Promise<Told>): () => Promise<Told> {
  return async () => {
    let told: Told = {}
    const isInTime = async (): Promise<boolean> => {
      told = await asked()
      return !causeIn(told).startsWith('timeout')
    }
    await until(isInTime, 'an owner that answers within a second', 30_000)
    return told
  }
}

/** Why the owner has told nothing. */
export function causeIn(told: Told): string {
  return String((told['evidence'] as Record<string, unknown> | undefined)?.['askedOwner'])
}

export async function untilState({ why }: Pick<Place, 'why'>, key: string, state: string): Promise<void> {
  await until(async () => (await why(key))['state'] === state, `${key} is ${state}`)
}

/** A handler that ends when it is told to, or aborted. */
export function held(): { handler: Handler; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { handler: () => promise, release: resolve }
}

/** A member that joins to work on a pool, and is never heard of again. */
export async function joinGhost({ store }: Headrace, pool: string, partitions = 4): Promise<string> {
  const id = `ghost-${pool}`
  const about = { name: 'ghost', address: 'http://ghost:7400', version: '0', weight: 1, concurrency: 1 }
  const ghost = { id, ...about, serves: [`pool/${pool}`], leads: false, leaseMs: null }
  await store.roster.join(ghost, [{ name: `pool/${pool}`, partitions }])
  return id
}
