// Every reason of the closed list, from evidence made by hand. Those that a server can be brought into are in server/why.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Evidence, LimitEvidence } from '../../../src/pool/evidence.ts'
import { REASONS, type Reason, why } from '../../../src/pool/why.ts'

const NOW = 1_000_000
const ENTRY = {
  state: 'due',
  slot: null,
  dueAt: NOW - 5000,
  attempt: 0,
  lastError: null,
  lane: 'normal',
  partition: 3,
  tally: 1,
} as const
const OWNER = {
  id: 'id-1',
  name: 'm1',
  address: 'http://m1:7400',
  draining: false,
  stopping: false,
  silent: false,
}
const HERE = { owner: OWNER, next: null, servers: 2, isHere: true }
const WORKER = {
  running: 8,
  concurrency: 32,
  waiting: 0,
  holds: true,
  isStopping: false,
  alone: null,
  sight: null,
}
const RUNNING = { phase: 'running', slot: null, attempt: 1, forMs: 90_000, aborted: null } as const
const STORE = { p99Ms: 4, pulseAgeMs: 200, leaseMs: 3000, isFailing: false, behind: null, isTrusted: true }

function evidence(changes: Partial<Evidence> = {}): Evidence {
  const none = { paused: null, limit: null }
  return {
    pool: 'vms',
    key: 'k',
    now: NOW,
    entry: ENTRY,
    isTicks: false,
    ...none,
    partition: HERE,
    worker: WORKER,
    store: STORE,
    ...changes,
  }
}

const PAUSE = { by: 'ana', reason: 'deploy', until: NOW + 60_000 }
const RATE = { kind: 'rate', scope: 'pool', limit: 50, perMs: 1000, share: 50, until: NOW + 300 } as const

const cases: [
  title: string,
  reason: Reason,
  changes: Partial<Evidence>,
  evidence: Record<string, unknown>,
][] = [
  [
    'its time has not come',
    'not_due',
    { entry: { ...ENTRY, state: 'waiting', dueAt: NOW + 9 } },
    { dueAt: NOW + 9 },
  ],
  [
    'it failed and waits',
    'backing_off',
    { entry: { ...ENTRY, state: 'backing-off', dueAt: NOW + 9, attempt: 2, lastError: 'Error: down' } },
    { until: NOW + 9, attempt: 2, lastError: 'Error: down' },
  ],
  ['its pool is paused', 'paused', { paused: PAUSE }, PAUSE],
  ['its pool has started as many as it may', 'rate_limited', { limit: RATE }, RATE],
  [
    'its group runs as many as it may',
    'pool_full',
    { limit: { kind: 'concurrency', scope: 'group', limit: 5, perMs: null, share: null, until: null } },
    { kind: 'concurrency', scope: 'group', limit: 5, perMs: null, share: null, until: null },
  ],
  [
    'every handler is busy',
    'pool_full',
    { worker: { ...WORKER, running: 32, waiting: 7 } },
    { running: 32, concurrency: 32, waiting: 7 },
  ],
  [
    'a suspect run has the member to itself',
    'pool_full',
    { worker: { ...WORKER, running: 1, alone: { pool: 'vms', key: 'poison' } } },
    { alone: { pool: 'vms', key: 'poison' } },
  ],
  [
    'another slot of the key runs',
    'waiting_key',
    { worker: { ...WORKER, sight: { ...RUNNING, slot: 5 } } },
    { slot: 5, runsForMs: 90_000, aborted: null },
  ],
  [
    'its handler ignores an abort',
    'waiting_key',
    { worker: { ...WORKER, sight: { ...RUNNING, aborted: 'timeout' } } },
    { slot: null, runsForMs: 90_000, aborted: 'timeout' },
  ],
  [
    'nobody owns its partition',
    'partition_unowned',
    { partition: { ...HERE, owner: null } },
    { partition: 3, owner: null },
  ],
  [
    'its owner is silent',
    'partition_unowned',
    { partition: { ...HERE, isHere: false, owner: { ...OWNER, silent: true } } },
    { partition: 3, owner: 'm1' },
  ],
  [
    'its partition goes to another member',
    'partition_moving',
    { partition: { ...HERE, next: 'm2' } },
    { partition: 3, owner: 'm1', next: 'm2' },
  ],
  [
    'its partition comes to this member',
    'partition_moving',
    { worker: { ...WORKER, holds: false } },
    { partition: 3, owner: 'm1', next: null },
  ],
  [
    'nobody works on the pool',
    'no_consumer',
    { partition: { ...HERE, owner: null, servers: 0 } },
    { servers: 0 },
  ],
  [
    'its owner drains',
    'node_draining',
    { partition: { ...HERE, next: 'm2', owner: { ...OWNER, draining: true } } },
    { partition: 3, owner: 'm1', next: 'm2' },
  ],
  [
    'this member stops',
    'node_draining',
    { worker: { ...WORKER, isStopping: true } },
    { partition: 3, owner: 'm1', next: null },
  ],
  [
    'its owner, another member, stops',
    'node_draining',
    { partition: { ...HERE, isHere: false, owner: { ...OWNER, stopping: true } } },
    { partition: 3, owner: 'm1', next: null },
  ],
  [
    'an aborted run goes on where its partition is not any more',
    'unknown',
    {
      partition: { ...HERE, isHere: false },
      worker: { ...WORKER, holds: false, sight: { ...RUNNING, aborted: 'lost' } },
    },
    { owner: 'm1', address: 'http://m1:7400', waiting: 0 },
  ],
  [
    'the store is slow',
    'store_slow',
    { store: { ...STORE, p99Ms: 2000 } },
    { p99Ms: 2000, pulseAgeMs: 200, isFailing: false, isTrusted: true },
  ],
  [
    'a look at the store failed',
    'store_slow',
    { store: { ...STORE, isFailing: true } },
    { p99Ms: 4, pulseAgeMs: 200, isFailing: true, isTrusted: true },
  ],
  [
    'no pulse was answered for a lease',
    'store_slow',
    { store: { ...STORE, pulseAgeMs: 3001 }, partition: { ...HERE, owner: { ...OWNER, silent: true } } },
    { p99Ms: 4, pulseAgeMs: 3001, isFailing: false, isTrusted: true },
  ],
  [
    'pulses are as rare as a long lease has them',
    'unknown',
    { store: { ...STORE, pulseAgeMs: 5000, leaseMs: 30_000 } },
    { owner: 'm1', address: 'http://m1:7400', waiting: 0 },
  ],
  [
    'removed rows are in the way of reads',
    'store_slow',
    { store: { ...STORE, behind: { holder: 'pg_dump', remedy: null } } },
    { holder: 'pg_dump' },
  ],
  ['nothing is known to hinder it', 'unknown', {}, { owner: 'm1', address: 'http://m1:7400', waiting: 0 }],
]

for (const [title, reason, changes, expected] of cases) {
  test(`[I8] ${reason}: ${title}`, () => {
    const found = why(evidence(changes))
    assert.equal(found.reason, reason, found.sentence)
    assert.deepEqual(found.evidence, expected)
    assert.ok(found.sentence.length > 10)
  })
}

test('[I8] every reason is produced but those of flows and calendars, which are not there yet', () => {
  const produced = new Set(cases.map(([, reason]) => reason))
  assert.deepEqual(
    REASONS.filter((reason) => !produced.has(reason)),
    ['no_demand', 'window_closed'],
  )
})

test('[I8] what must change first is the reason, and what else hinders stands beside it', () => {
  const worker = { ...WORKER, running: 32, sight: { ...RUNNING, aborted: 'lost' as const } }
  const found = why(evidence({ paused: PAUSE, worker, limit: RATE }))
  assert.deepEqual([found.reason, found.also], ['paused', ['waiting_key', 'rate_limited', 'pool_full']])
  assert.equal(found.next, 'headrace pool resume vms')
  const later = why(evidence({ entry: { ...ENTRY, state: 'waiting' }, paused: PAUSE }))
  assert.deepEqual([later.reason, later.also], ['not_due', ['paused']])
})

test('[I8] a limit of the pool is said to be reached by the pool, or this member to have used its share of it', () => {
  const limit = {
    kind: 'concurrency',
    scope: 'pool',
    limit: 50,
    perMs: null,
    share: 50,
    until: null,
  } as const
  const told = (changes: Partial<LimitEvidence>): string =>
    why(evidence({ limit: { ...limit, ...changes } })).sentence
  assert.equal(told({}), 'the pool may run 50 at once, and does')
  assert.equal(told({ share: 12 }), 'the pool may run 50 at once; the share of it that m1 has, 12, is used')
  assert.equal(told({ share: 0 }), 'the pool may run 50 at once, and m1 has no share of it now')
  assert.equal(
    told({ kind: 'rate', perMs: 1000, share: 12 }),
    'the pool may start 50 in 1000 ms; the share of it that m1 has, 12, is used',
  )
  const both = why(evidence({ limit, worker: { ...WORKER, running: 32 } }))
  assert.deepEqual([both.reason, both.also], ['pool_full', []])
})

test('[I8] an answer names the member that gives it: another server may pass it on', () => {
  const busy = why(evidence({ worker: { ...WORKER, running: 32 } }))
  assert.equal(busy.sentence, 'all 32 handlers of m1 are busy')
})

test('[I8] what runs, is dead or is not there is kept waiting by nothing', () => {
  const states = [
    why(evidence({ worker: { ...WORKER, sight: RUNNING } })),
    why(evidence({ worker: { ...WORKER, sight: { ...RUNNING, phase: 'settling' } } })),
    why(evidence({ entry: { ...ENTRY, state: 'dead' } })),
    why(evidence({ entry: null })),
  ]
  assert.deepEqual(
    states.map(({ state, reason }) => [state, reason]),
    [
      ['running', null],
      ['running', null],
      ['dead', null],
      ['absent', null],
    ],
  )
})

test('[I8] ticks that nobody moves want a member, and no worker', () => {
  const nobody = { ...HERE, owner: null, servers: 0 }
  const found = why(evidence({ pool: 'ticks', partition: nobody, worker: null, isTicks: true }))
  assert.equal(found.reason, 'no_consumer')
  assert.doesNotMatch(`${found.sentence} ${found.next}`, /a work|works|race.work/)
  assert.match(found.next ?? '', /headrace serve/)
  assert.match(why(evidence({ partition: nobody })).next ?? '', /race\.work\(\)/)
})

test('[I8] [X45] what a run that has the member to itself keeps waiting names it, and what can be done', () => {
  const alone = { pool: 'vms', key: 'poison' }
  const other = why(evidence({ worker: { ...WORKER, running: 1, alone } }))
  assert.match(
    other.sentence,
    /^a run that was in two crashes, poison of vms, has m1 to itself: nothing else starts$/,
  )
  assert.match(other.next ?? '', /headrace pool cancel vms poison$/)
  const own = why(evidence({ key: 'poison', worker: { ...WORKER, alone } }))
  assert.deepEqual(
    [own.reason, own.sentence, own.next],
    ['pool_full', 'it was in two crashes, and waits until it has m1 to itself', null],
  )
  const odd = why(evidence({ worker: { ...WORKER, alone: { pool: 'vms', key: "-it's" } } }))
  assert.match(odd.next ?? '', /headrace pool cancel vms -- '-it'\\''s'$/)
  const elsewhere = why(evidence({ worker: { ...WORKER, holds: false, alone } }))
  assert.equal(elsewhere.reason, 'partition_moving')
})

test('[I8] a member that does not own the partition says who knows', () => {
  const { reason, next } = why(evidence({ partition: { ...HERE, isHere: false }, worker: null }))
  assert.deepEqual([reason, next], ['unknown', 'ask it: headrace why k --pool vms --server http://m1:7400'])
})
