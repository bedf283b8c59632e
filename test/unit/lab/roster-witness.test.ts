// The roster, seen from outside: who decides without the lease is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RosterWitness } from '../../../src/lab/simulation/roster-witness.ts'
import type { Decided, Decision, RosterStore } from '../../../src/roster/store.ts'

const DECISION: Decision = { leader: 'm1', term: 2, leaseMs: 3000, gapMs: 1000, dead: [], changes: [] }

/** What is said of a decision by m1 in term 2, at 1000, where the lease is as given. */
async function decided(
  { member = 'm1', term = 2, expiresAt = 1001 },
  answer: Decided = { kind: 'decided', applied: 0 },
): Promise<string> {
  const said: string[] = []
  const leader = { member, term, expiresAt }
  const roster = {
    view: () => Promise.resolve({ now: 1000, leader, members: [], allotments: [], version: 1 }),
    decide: () => Promise.resolve(answer),
  } as unknown as RosterStore
  await new RosterWitness((violation) => said.push(violation)).wrap(roster).decide(DECISION)
  return said.join()
}

test('[K2] a decision of one who does not lead, leads in another term, or whose lease is over, is found', async () => {
  assert.equal(await decided({}), '')
  assert.match(await decided({ member: 'm2' }), /^\[K2\] m1 decided in term 2, and does not lead in it/)
  assert.match(await decided({ term: 3 }), /^\[K2\]/)
  assert.match(await decided({ expiresAt: 1000 }), /^\[K2\]/)
  assert.equal(await decided({ member: 'm2' }, { kind: 'not-leader' }), '')
})
