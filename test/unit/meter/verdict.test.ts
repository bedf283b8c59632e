import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Facts, type PoolFacts, judge } from '../../../src/meter/verdict.ts'

const QUIET: PoolFacts = {
  pool: 'vms',
  running: 0,
  concurrency: 32,
  overdue: { count: 0, atLeast: false, oldestMs: 0, unknown: null },
  finished: 0,
  failed: 0,
  latenessP50Ms: null,
  earlierP50Ms: null,
}

function facts(pool: Partial<PoolFacts> = {}, others: Partial<Facts> = {}): Facts {
  return {
    pools: [{ ...QUIET, ...pool }],
    ticks: { count: 0, p99Ms: null },
    store: { p99Ms: 4, pulseAgeMs: 200, slowMs: 1000, leaseMs: 3000 },
    roster: { isTrusted: true, hasLeader: true, partitions: 32, unowned: 0 },
    services: [{ name: 'pulse', state: 'running' }],
    ...others,
  }
}

const WAITING = { count: 1200, atLeast: false, oldestMs: 60_000, unknown: null }

test('[I10] nothing due is idle, and work that keeps up flows', () => {
  assert.deepEqual(judge(facts()).sentence, 'Idle: nothing that this member works on is due')
  const { status, sentence, not } = judge(facts({ running: 8, finished: 1310 }))
  assert.deepEqual([status, sentence, not], ['ok', 'Work is flowing: 8 running, 131 ended a second', []])
})

test('[I10] what waits and is worked off is busy, with the time until it is empty and what is not the cause', () => {
  const busy = facts({
    overdue: WAITING,
    running: 8,
    finished: 100,
    latenessP50Ms: 50_000,
    earlierP50Ms: 60_000,
  })
  const { status, sentence, not } = judge(busy)
  assert.equal(status, 'busy')
  assert.equal(sentence, 'Busy: 1200 waiting in vms, draining, 10 ended a second, empty in about 2 min')
  assert.deepEqual(not.slice(0, 2), ['not the store (p99 4 ms)', 'not the roster (32 partitions owned)'])
  const more = judge(facts({ overdue: { ...WAITING, atLeast: true }, finished: 100 }))
  assert.match(more.sentence, /^Busy: at least 1200 waiting .*empty in no less than 2 min$/)
})

test('[I10] what is due for long while handlers are free and none ends is stuck; while all are busy it is busy', () => {
  const stuck = judge(facts({ overdue: WAITING, running: 8 }))
  assert.equal(stuck.status, 'stuck')
  assert.match(stuck.sentence, /^Stuck: 1200 due in vms for 1 min, and none ended in 10 s \(8\/32 busy\)$/)
  assert.equal(judge(facts({ overdue: WAITING, running: 32 })).status, 'busy')
})

test('[I10] runs that fail, loops that ended and partitions without owner are failing', () => {
  assert.equal(judge(facts({ finished: 1, failed: 2 })).status, 'failing')
  const ended = judge(facts({}, { services: [{ name: 'work vms', state: 'failed' }] }))
  assert.deepEqual([ended.status, ended.sentence], ['failing', 'Failing: work vms is failed'])
  const roster = { isTrusted: true, hasLeader: true, partitions: 32, unowned: 2 }
  assert.match(judge(facts({}, { roster })).sentence, /2 of 32 partitions have no owner/)
  assert.equal(judge(facts({}, { roster: { ...roster, isTrusted: false } })).status, 'stuck')
})

test('[I10] a store that has not answered for a lease makes everything unknown, and a slow one is busy', () => {
  const store = { p99Ms: null, pulseAgeMs: 9000, slowMs: 1000, leaseMs: 3000 }
  const silent = judge(facts({ running: 8 }, { store }))
  assert.deepEqual(
    [silent.status, silent.sentence],
    ['unknown', 'Unknown: the store last answered 9000 ms ago'],
  )
  assert.equal(judge(facts({}, { store: { ...store, p99Ms: 1500, pulseAgeMs: 100 } })).status, 'busy')
})

test('[I5] [I10] what waits is said to be unknown where it is', () => {
  const overdue = { count: null, atLeast: false, oldestMs: null, unknown: 'it holds nothing' }
  const { findings } = judge(facts({ overdue }))
  assert.match(
    findings.find(({ check }) => check === 'the pool vms')?.detail ?? '',
    /not known: it holds nothing/,
  )
})
