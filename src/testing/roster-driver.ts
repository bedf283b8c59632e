// The roster of the store under test, with the short calls that contract cases are written in.
import assert from 'node:assert/strict'
import type { AllotmentChange, Beat, Beaten, Decision, NewMember } from '../roster/store.ts'
import type { Store } from '../store.ts'

export const LEASE_MS = 3000
export const GAP_MS = 1000
export const RESOURCE = { name: 'pool/work', partitions: 4 }

export function asMember(id: string, given: Partial<NewMember> = {}): NewMember {
  return {
    id,
    name: `host:${id}`,
    address: null,
    version: '0.1.0',
    weight: 1,
    concurrency: 1,
    serves: [RESOURCE.name],
    leads: true,
    leaseMs: LEASE_MS,
    ...given,
  }
}

export async function beat(store: Store, member: string, given: Partial<Beat> = {}): Promise<Beaten> {
  const said = { health: {}, holding: {}, refused: [], leads: true, ...given }
  const { beaten } = await store.pulse({ beat: { member, leaseMs: LEASE_MS, ...said }, pools: [] })
  assert.ok(beaten !== null)
  return beaten
}

export async function known(
  store: Store,
  member: string,
  given: Partial<Beat> = {},
): Promise<Beaten & { known: true }> {
  const beaten = await beat(store, member, given)
  assert.ok(beaten.known)
  return beaten
}

/** Two members, of which the first leads with term 1. */
export async function openTwo(store: Store): Promise<void> {
  for (const id of ['a', 'b']) await store.roster.join(asMember(id), [RESOURCE])
  await known(store, 'a')
  await known(store, 'b')
}

export function decision(given: Partial<Decision> = {}): Decision {
  return { leader: 'a', term: 1, leaseMs: LEASE_MS, gapMs: GAP_MS, dead: [], changes: [], ...given }
}

export function change(
  partition: number,
  from: AllotmentChange['from'],
  to: AllotmentChange['to'],
): AllotmentChange {
  return { resource: RESOURCE.name, partition, from, to }
}

export const held = (owner: string, epoch: number, next: string | null = null): AllotmentChange['to'] => ({
  owner,
  epoch,
  next,
})

export async function allotments(store: Store): Promise<[number, string, number, string | null][]> {
  const { allotments: all } = await store.roster.view()
  return all
    .map(({ partition, owner, epoch, next }) => [partition, owner, epoch, next] as const)
    .toSorted((a, b) => a[0] - b[0])
    .map((row) => [...row])
}
