// What a call says whose time is over, and how long it waits before it is made again.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { Pool, PoolClient } from 'pg'
import type { Call } from '../../../../src/stores/postgres/connections.ts'
import { Connections } from '../../../../src/stores/postgres/connections.ts'
import { Queries } from '../../../../src/stores/postgres/queries.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const CALL: Call = { operation: 'read', timeoutMs: 5000, again: 'exact' }
const never = new Promise<never>(() => undefined)

/** A pool of one connection, which does with a query what is said. */
class OnePool extends EventEmitter {
  readonly options = { max: 1 }
  readonly #query: () => Promise<unknown>
  #isFree: boolean

  constructor(query: () => Promise<unknown>, isFree = true) {
    super()
    this.#query = query
    this.#isFree = isFree
  }

  connect(): Promise<PoolClient> {
    if (!this.#isFree) return never
    this.#isFree = false
    const release = (): void => void (this.#isFree = true)
    return Promise.resolve({ query: this.#query, release } as unknown as PoolClient)
  }
}

function open(pool: OnePool, clock: VirtualClock, canGrow = true): Connections {
  const shared = { queries: new Queries('headrace'), clock, telemetry: createTelemetry('test') }
  return new Connections({ ...shared, pool: pool as unknown as Pool, address: 'postgres://db', canGrow })
}

for (const [canGrow, remedy] of [
  [true, /larger `max` in the address/],
  [false, /^look for load/],
] as const) {
  test(`[Y2] a call that gets no connection says that all are busy; more of them ${canGrow ? 'help' : 'cannot be had'}`, async () => {
    const clock = new VirtualClock()
    const connections = open(new OnePool(() => never), clock, canGrow)
    const first = assert.rejects(connections.query('opening', [], { ...CALL, timeoutMs: 6000 }), {
      message: /did not answer/,
    })
    await clock.advance(10)
    const queued = assert.rejects(connections.query('opening', [], CALL), {
      code: 'store_busy',
      message: /^postgres:\/\/db: all 1 connections are busy, and none was free within 5000 ms$/,
      remedy,
    })
    await clock.advance(6000)
    await Promise.all([first, queued])
  })
}

test('[Y2] a call that waits for a connection that cannot be made says that the server does not answer', async () => {
  const clock = new VirtualClock()
  const failing = assert.rejects(open(new OnePool(() => never, false), clock).query('opening', [], CALL), {
    code: 'store_failed',
    message: 'postgres://db did not answer within 5000 ms',
  })
  await clock.advance(6000)
  await failing
})

test('[Y4] calls that failed together are not made again together', async () => {
  const pausesOf = async (seed: number): Promise<number[]> => {
    const clock = new VirtualClock(seed)
    const sentAt: number[] = []
    const pool = new OnePool(() => {
      sentAt.push(clock.mono())
      return Promise.reject(Object.assign(new Error('deadlock'), { code: '40P01', severity: 'ERROR' }))
    })
    const failing = assert.rejects(open(pool, clock).query('opening', [], CALL), { code: 'store_busy' })
    await clock.advance(10_000)
    await failing
    return sentAt.slice(1).map((at, nth) => at - (sentAt[nth] ?? 0))
  }
  const [first, second] = [await pausesOf(1), await pausesOf(2)]
  assert.notDeepEqual(first, second)
  const bounds = [0, 20, 50, 100, 200, 400, 800]
  for (const [nth, bound] of bounds.entries()) {
    const pause = first[nth] ?? -1
    assert.ok(pause >= bound / 2 && pause <= bound * 1.5, `pause ${nth}: ${pause} ms`)
  }
})
