// Several members over one memory store in real time, the first of them with a server.
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/clock.ts'
import { noFaults } from '../../../src/fault.ts'
import { type Headrace, headrace } from '../../../src/headrace.ts'
import type { Store } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { type Serving, serve, until } from './serving.ts'

export interface Members {
  serving: Serving
  store: Store
  /** Every member, the serving one first; their names are m1, m2 and so on. */
  races: Headrace[]
}

/** A short lease, so that a test need not wait for pulses. */
const LEASE_MS = 600
const PARTITIONS = 4

/** So many members that share four partitions of ticks, and have settled. */
export async function openMembers(t: TestContext, size: number): Promise<Members> {
  const shared = openMemoryStore({
    clock: systemClock,
    telemetry: createTelemetry('store'),
    faults: noFaults,
  })
  // A member closes its store when it stops; this one is everybody's.
  const store = { ...shared, close: async () => undefined }
  const options = { store: 'memory:', partitions: PARTITIONS, lease: LEASE_MS, log: 'silent' } as const
  const serving = await serve(t, { race: { ...options, name: 'm1' } }, { store })
  const races = [serving.race]
  for (let nth = 2; nth <= size; nth += 1) {
    const race = await headrace({ ...options, name: `m${nth}` }, { store })
    race.ticks()
    t.after(() => race.stop())
    await race.start()
    races.push(race)
  }
  await until(() => races.every((race) => heldBy(race) >= Math.floor(PARTITIONS / size)), 'equal shares')
  return { serving, store, races }
}

/** How many partitions of the ticks a member holds. */
export function heldBy({ roster }: Headrace): number {
  return roster.share({ name: 'pool/ticks', partitions: PARTITIONS }).claim().held.length
}
