// What doctor finds of a roster: each fault by itself, with a remedy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findingsOf } from '../../../src/roster/findings.ts'
import { timingOf } from '../../../src/roster/settings.ts'
import type { RosterView } from '../../../src/roster/store.ts'
import { summaryOf } from '../../../src/roster/summary.ts'
import { NOW, RESOURCE, allotment, fence, member, view } from './sample-view.ts'

const owned = [0, 1, 2, 3].map((partition) => allotment(partition, 'a'))
const healthy = (changes: Partial<RosterView> = {}): RosterView => view([member('a')], owned, changes)

function faultsOf(seen: RosterView, fences = new Map<string, ReturnType<typeof fence>[]>()): string[] {
  const findings = findingsOf(summaryOf(seen, fences, timingOf(3000)))
  for (const { ok, remedy, check } of findings) assert.equal(remedy === null, ok, check)
  return findings.filter(({ ok }) => !ok).map(({ check, detail }) => `${check}: ${detail}`)
}

test('nothing is wrong with a roster that is well, or with one that nobody joined', () => {
  assert.deepEqual(faultsOf(healthy()), [])
  assert.deepEqual(faultsOf(view([], owned)), [])
})

test('the lease of a member that did not say it, or that is silent, tells nothing', () => {
  assert.deepEqual(faultsOf(healthy({ members: [member('a', { leaseMs: null })] })), [])
  const silent = member('b', { leaseMs: 1000, heartbeatAt: NOW - 3001 })
  assert.deepEqual(
    faultsOf(healthy({ members: [member('a'), silent] })).map((fault) => fault.split(':')[0]),
    ['heartbeats'],
  )
})

test('a share whose collectors are all gone is no fault', () => {
  const resources = [{ name: 'share/id/vms', partitions: 4 }]
  assert.deepEqual(faultsOf(healthy({ resources, allotments: [] })), [])
})

test('[O1] partitions that two members hold are a fault', () => {
  const holding = { [RESOURCE]: [{ partition: 0, epoch: 1 }] }
  const fences = new Map([[RESOURCE, [fence(0, 'b', { epoch: 2 })]]])
  assert.match(faultsOf(view([member('a', { holding })], owned), fences).join(), /^overlap: 1 partitions/)
})

const faults: [title: string, seen: RosterView, fault: RegExp][] = [
  ['nobody who leads', healthy({ leader: null }), /^leader: nobody leads/],
  [
    'a member that is silent',
    healthy({ members: [member('a'), member('b', { heartbeatAt: NOW - 3001 })] }),
    /^heartbeats: name-b said nothing/,
  ],
  [
    'a loop that failed',
    healthy({ members: [member('a', { health: { pulse: 'running', 'ticks ticks': 'failed' } })] }),
    /^loops: ticks ticks of name-a is failed$/,
  ],
  [
    'a mix of versions',
    healthy({ members: [member('a'), member('b', { version: '0.9.0' })] }),
    /^versions: members run 0\.9\.0 and 1\.0\.0$/,
  ],
  [
    'the lease of a member that does not lead',
    healthy({ members: [member('a'), member('b', { leaseMs: 1000 })] }),
    /^lease: leases differ: 1000 ms \(name-b\) and 3000 ms \(name-a, here\)$/,
  ],
  [
    'another lease here',
    healthy({ members: [member('a', { leaseMs: 9000 })] }),
    /^lease: leases differ: 3000 ms \(here\) and 9000 ms \(name-a\)$/,
  ],
  [
    'a resource that nobody serves',
    healthy({ members: [member('a', { serves: [] })], allotments: [] }),
    /^service: nobody serves 4 partitions of pool\/ticks$/,
  ],
]

for (const [title, seen, fault] of faults) {
  test(`${title} is a fault, and the only one`, () => {
    const found = faultsOf(seen)
    assert.equal(found.length, 1, found.join('; '))
    assert.match(found[0] ?? '', fault)
  })
}
