// Collectors over the memory store and a virtual clock, with a leader that takes one step when it is told to.
import assert from 'node:assert/strict'
import { noFaults } from '../../../src/fault.ts'
import { Collectors } from '../../../src/roster/collectors.ts'
import { parseFilter } from '../../../src/roster/parse-filter.ts'
import { changesOf } from '../../../src/roster/plan.ts'
import type { Store } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

export const LEASE_MS = 3000

export interface Shares {
  store: Store
  clock: VirtualClock
  collectors: Collectors
  /** Beats, buries who is silent, and moves one step towards the plan. */
  lead(): Promise<void>
}

export async function openShares(): Promise<Shares> {
  const clock = new VirtualClock()
  const store = openMemoryStore({ clock, telemetry: createTelemetry('test'), faults: noFaults })
  const collectors = new Collectors({ store, clock, leaseMs: LEASE_MS })
  return { store, clock, collectors, lead: await startLeader(store) }
}

/** A member that leads and serves nothing; answers its step. */
export async function startLeader(store: Store): Promise<() => Promise<void>> {
  const said = {
    name: 'leader',
    address: null,
    version: '0',
    weight: 1,
    concurrency: 1,
    leaseMs: 3000,
    serves: [],
    leads: true,
  }
  await store.roster.join({ id: 'leader', ...said }, [])
  return async () => {
    const unsaid = { leads: true, health: {}, holding: {}, refused: [] }
    const { beaten } = await store.pulse({
      beat: { member: 'leader', leaseMs: LEASE_MS, ...unsaid },
      pools: [],
    })
    assert.ok(beaten?.known === true && beaten.leader !== null)
    const { silent: dead, leader } = beaten
    const changes = changesOf(await store.roster.view(), { dead })
    const decision = { leader: 'leader', term: leader.term, leaseMs: LEASE_MS, gapMs: 1000, dead, changes }
    assert.equal((await store.roster.decide(decision)).kind, 'decided')
  }
}

export function residuesOf(filter: string | null): number[] {
  return filter === null ? [] : [...(parseFilter(filter).mod?.residues ?? [])]
}
