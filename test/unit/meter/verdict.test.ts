import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Facts, type PoolFacts, judge } from '../../../src/meter/verdict.ts'

const QUIET: PoolFacts = {
  pool: 'vms',
  running: 0,
  concurrency: 32,
  overdue: { count: 0, atLeast: false, oldestMs: 0, unknown: null },
  paused: null,
  reached: null,
  finished: 0,
  failed: 0,
  latenessP50Ms: null,
  earlierP50Ms: null,
}

function facts(pool: Partial<PoolFacts> = {}, others: Partial<Facts> = {}): Facts {
  return {
    pools: [{ ...QUIET, ...pool }],
    ticks: { count: 0, p99Ms: null, paused: [] },
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

test('[I10] a pool that is paused says by whom, since when and what to do, and is not stuck', () => {
  const paused = { by: 'ann', reason: 'deploy', since: 0, until: null }
  const held = judge(facts({ paused, overdue: { ...WAITING, atLeast: true, unknown: 'paused by ann' } }))
  assert.equal(held.status, 'busy')
  assert.equal(
    held.sentence,
    'Held: vms is paused by ann since 1970-01-01T00:00:00.000Z (deploy); at least 1200 due',
  )
  assert.equal(held.findings[0]?.remedy, 'headrace pool resume vms')
  assert.deepEqual(Object.keys(held.findings[0] ?? {}), ['check', 'status', 'detail', 'remedy'])
  const overdue = { count: null, atLeast: false, oldestMs: null, unknown: 'paused' }
  const blind = judge(facts({ paused: { by: null, reason: null, since: 0, until: 60_000 }, overdue }))
  assert.match(
    blind.sentence,
    /^Held: vms is paused since .* until 1970-01-01T00:01:00.000Z; what is due is not known$/,
  )
})

test('[I10] ticks that are paused are held as pools are, and nobody says that none was due', () => {
  const paused = { by: 'ann', reason: null, since: 0, until: null }
  const overdue = { count: 1, atLeast: true, oldestMs: 60_000, unknown: 'paused by ann' }
  const ticks = { count: 0, p99Ms: null, paused: [{ pool: 'ticks', paused, overdue }] }
  const held = judge(facts({}, { ticks }))
  assert.equal(held.status, 'busy')
  assert.equal(held.sentence, 'Held: ticks is paused by ann since 1970-01-01T00:00:00.000Z; at least 1 due')
  assert.equal(held.findings[0]?.remedy, 'headrace pool resume ticks')
  assert.doesNotMatch(held.not.join(), /the ticks/)
  const others = judge(facts({}, { ticks: { ...ticks, count: 5, p99Ms: 4 } }))
  assert.match(others.not.join(), /not the ticks \(p99 4 ms late\)/)
})

test('[I10] what waits because a limit is reached is held back, and not stuck; what fails is failing', () => {
  const reached = { kind: 'rate', scope: 'group', limit: 5, perMs: 60_000, share: null } as const
  const held = judge(facts({ reached, overdue: WAITING, running: 1 }))
  assert.equal(held.status, 'busy')
  assert.equal(
    held.sentence,
    'Held: vms is held back by its limit (5 in 60000 ms for each group); 1200 due, 0 ended a second',
  )
  assert.match(held.findings[0]?.remedy ?? '', /headrace pool limits vms$/)
  const whole = { kind: 'concurrency', scope: 'pool', limit: 8, perMs: null, share: 8 } as const
  assert.match(judge(facts({ reached: whole, overdue: WAITING })).sentence, /its limit \(8 at once\)/)
  const part = judge(facts({ reached: { ...whole, share: 3 }, overdue: WAITING }))
  assert.match(part.sentence, /its limit \(8 at once, 3 of it this member’s\)/)
  assert.equal(judge(facts({ reached, overdue: WAITING, failed: 3 })).status, 'failing')
  assert.equal(judge(facts({ reached })).status, 'ok')
  const overdue = { count: null, atLeast: false, oldestMs: null, unknown: 'more may be due' }
  assert.match(judge(facts({ reached, overdue })).sentence, /^Held: .*; what is due is not known, /)
})

test('[I10] runs that fail, loops that ended and partitions without owner are failing', () => {
  assert.equal(judge(facts({ finished: 1, failed: 2 })).status, 'failing')
  const ended = judge(facts({}, { services: [{ name: 'work vms', state: 'failed' }] }))
  assert.deepEqual([ended.status, ended.sentence], ['failing', 'Failing: work vms is failed'])
  const roster = { isTrusted: true, hasLeader: true, partitions: 32, unowned: 2 }
  assert.match(judge(facts({}, { roster })).sentence, /2 of 32 partitions have no owner/)
  assert.equal(judge(facts({}, { roster: { ...roster, isTrusted: false } })).status, 'stuck')
})

test('[I10] runs that fail are told also where it is not known what waits', () => {
  const overdue = { count: null, atLeast: false, oldestMs: null, unknown: 'more may be due' }
  assert.equal(judge(facts({ overdue, finished: 1, failed: 2 })).status, 'failing')
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
