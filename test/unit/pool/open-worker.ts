// A worker over a virtual clock, and memory or another store, whose partitions a test gives and takes away, and whose store it
// can hold up.
import { noFaults } from '../../../src/fault.ts'
import { poolResource } from '../../../src/fence.ts'
import { Gate } from '../../../src/gate.ts'
import { Meter } from '../../../src/meter/meter.ts'
import type { Mode } from '../../../src/pool/entry.ts'
import { Pool } from '../../../src/pool/pool.ts'
import type { Handler, Run, RunContext } from '../../../src/pool/run.ts'
import type { Entries, PoolStore, TakeRequest } from '../../../src/pool/store.ts'
import { type WorkOptions, workRules } from '../../../src/pool/work-options.ts'
import { Worker } from '../../../src/pool/worker.ts'
import { Ownership } from '../../../src/roster/ownership.ts'
import { Trust } from '../../../src/roster/trust.ts'
import type { Store } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { type Telemetry, createTelemetry } from '../../../src/telemetry.ts'
import { START, VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { changed } from '../open-race.ts'

export interface OpenWorker {
  clock: VirtualClock
  store: Store
  pool: Pool
  worker: Worker
  ownership: Ownership
  telemetry: Telemetry
  trust: Trust
  meter: Meter
  /** What the store was asked for, and when. */
  takes: (TakeRequest & { at: number })[]
  /** The allotments of partitions, all under one epoch, and their fences. */
  grant(partitions: readonly number[], epoch: number): Promise<void>
}

export interface Opening extends WorkOptions {
  mode?: Mode
  partitions?: number
  held?: readonly number[]
  trustMs?: number
  drainWithinMs?: number
  watch?: Store['watch']
  /** Opens its store; memory unless said. */
  open?(clock: VirtualClock): Promise<Store>
  entries?(entries: Entries): Partial<Entries>
  control?(control: PoolStore['control']): Partial<PoolStore['control']>
}

export async function openWorker(handler: Handler, opening: Opening = {}): Promise<OpenWorker> {
  const { mode = 'one', partitions = 1, held, trustMs = Infinity, drainWithinMs = 30_000, ...rest } = opening
  const { watch, entries: change, control: changeControl, open, ...options } = rest
  const clock = new VirtualClock()
  const telemetry = createTelemetry(`worker-${clock.id()}-${START}`)
  const opened = (await open?.(clock)) ?? openMemoryStore({ clock, telemetry, faults: noFaults })
  const takes: OpenWorker['takes'] = []
  const inner = changed(opened.pool.entries, change?.(opened.pool.entries) ?? {})
  const entries = changed(inner, {
    take: (pool, request) => {
      takes.push({ ...request, at: clock.now() - START })
      return inner.take(pool, request)
    },
  })
  const control = changed(opened.pool.control, changeControl?.(opened.pool.control) ?? {})
  const store = changed(opened, {
    pool: changed(opened.pool, { entries, control }),
    ...(watch !== undefined && { watch }),
  })
  const settings = { name: 'work', partitions, mode, rememberMs: 0 }
  const pool = new Pool({ settings, store: store.pool, arrivals: null, clock, telemetry, gate: new Gate() })
  const trust = new Trust(clock, trustMs)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  const resource = { name: poolResource('work'), partitions }
  const look = (): void => undefined
  const ownership = new Ownership({ resource, clock, telemetry, trust, owner: () => 'me', look })
  const grant = async (given: readonly number[], epoch: number): Promise<void> => {
    const allotments = given.map((partition) => {
      return { resource: resource.name, partition, owner: 'me', epoch, next: null, since: 0, moves: 0 }
    })
    const asked = ownership.follow(allotments)
    ownership.raised(asked, await store.fences.raise(resource.name, { owner: 'me', held: asked }))
  }
  await grant(held ?? Array.from({ length: partitions }, (_, partition) => partition), 1)
  const rules = workRules(options)
  const meter = new Meter(telemetry, clock)
  const worker = new Worker({
    pool,
    handler,
    rules,
    store,
    ownership,
    clock,
    telemetry,
    meter,
    drainWithinMs,
  })
  await worker.service.start()
  await clock.advance(0)
  return { clock, store, pool, worker, ownership, telemetry, trust, meter, takes, grant }
}

export interface Call {
  run: Run
  ctx: RunContext
  end(answer?: Awaited<ReturnType<Handler>>): void
  fail(error: unknown): void
}

/** A handler whose calls wait until the test ends them. */
export function waitingHandler(): { handler: Handler; calls: Call[] } {
  const calls: Call[] = []
  const handler: Handler = (run, ctx) => {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Handler>>>()
    calls.push({ run, ctx, end: resolve, fail: reject })
    return promise
  }
  return { handler, calls }
}
