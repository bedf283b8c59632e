// Every reason of the closed list, from evidence made by hand. Those that a server can be brought into are in server/why.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Evidence } from '../../../src/pool/evidence.ts'
import { REASONS, type Reason, why } from '../../../src/pool/why.ts'

const NOW = 1_000_000
const ENTRY = {
  state: 'due',
  slot: null,
  dueAt: NOW - 5000,
  attempt: 0,
  lane: 'normal',
  partition: 3,
  tally: 1,
} as const
const OWNER = { name: 'm1', address: 'http://m1:7400', draining: false, silent: false }
const HERE = { owner: OWNER, next: null, servers: 2, isHere: true }
const WORKER = { running: 8, concurrency: 32, waiting: 0, holds: true, isStopping: false, sight: null }
const RUNNING = { phase: 'running', slot: null, attempt: 1, forMs: 90_000, aborted: null } as const
const STORE = { p99Ms: 4, pulseAgeMs: 200, leaseMs: 3000, isFailing: false, isTrusted: true }

function evidence(changes: Partial<Evidence> = {}): Evidence {
  const none = { paused: null, limit: null }
  return {
    pool: 'vms',
    key: 'k',
    now: NOW,
    entry: ENTRY,
    ...none,
    partition: HERE,
    worker: WORKER,
    store: STORE,
    ...changes,
  }
}

const PAUSE = { by: 'ana', reason: 'deploy', until: NOW + 60_000 }
const RATE = { kind: 'rate', scope: 'pool', limit: 50, perMs: 1000, until: NOW + 300 } as const

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
    { entry: { ...ENTRY, state: 'backing-off', dueAt: NOW + 9, attempt: 2 } },
    { until: NOW + 9, attempt: 2 },
  ],
  ['its pool is paused', 'paused', { paused: PAUSE }, PAUSE],
  ['its pool has started as many as it may', 'rate_limited', { limit: RATE }, RATE],
  [
    'its group runs as many as it may',
    'pool_full',
    { limit: { kind: 'concurrency', scope: 'group', limit: 5, perMs: null, until: null } },
    { kind: 'concurrency', scope: 'group', limit: 5, perMs: null, until: null },
  ],
  [
    'every handler is busy',
    'pool_full',
    { worker: { ...WORKER, running: 32, waiting: 7 } },
    { running: 32, concurrency: 32, waiting: 7 },
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

test('[I8] a member that does not own the partition says who knows', () => {
  const found = why(evidence({ partition: { ...HERE, isHere: false }, worker: null }))
  assert.equal(found.reason, 'unknown')
  assert.equal(found.next, 'ask it: headrace why --server http://m1:7400')
})
