// What the next take of a lane must look for: one that does not is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Made } from '../../../src/lab/simulation/made.ts'
import { type Moment, Owed } from '../../../src/lab/simulation/owed.ts'
import type { TakenRun } from '../../../src/pool/entry.ts'
import { contextOf } from './context-of.ts'

const taken: TakenRun = {
  key: 'k',
  group: 'k',
  slot: null,
  partition: 1,
  turn: 7,
  dueAt: 50_000,
  seen: 1,
  payload: null,
  attempt: 0,
  crashes: 0,
  putAt: 50_000,
}

function madeBy(overAt: number): Made {
  const context = contextOf({ partition: 1, epoch: 1 })
  const life = { name: 'm1', isDead: false }
  return {
    taken,
    epoch: 1,
    context,
    life,
    startedAt: 0,
    ending: 'throw',
    endedAt: overAt,
    answer: null,
    abortedAt: Infinity,
    overAt,
    cancelledAt: Infinity,
  }
}

/** What is wrong with a take that is sent and answered at once. */
function take(owed: Owed, from: number, { mono, store }: Moment, partitions = [1]): string[] {
  const request = { partitions, lane: 'bulk', from, limit: 10 } as const
  const { wrong, answered } = owed.sent(request, { mono, store }, () => false)
  answered({ now: store ?? 60_000, runs: [], nextDueAt: null })
  return wrong
}

test('[X8] a take that looks only behind a run that was let go is found, until one has looked for it', () => {
  const owed = new Owed()
  owed.add({ lane: 'bulk', taken, by: madeBy(1000) })
  assert.deepEqual(take(owed, 50_001, { mono: 1000, store: null }), [])
  assert.deepEqual(take(owed, 50_001, { mono: 1001, store: null }, [0]), [])
  assert.match(
    take(owed, 50_001, { mono: 1001, store: null }).join(),
    /^\[X8\] looks from 50001 on, and k is due/,
  )
  assert.deepEqual(take(owed, 50_000, { mono: 1002, store: null }), [])
  assert.deepEqual(take(owed, 50_001, { mono: 1003, store: null }), [])
})

test('[X8] what was passed over is looked for when the run that was in its way is over', () => {
  const owed = new Owed()
  const by = madeBy(Infinity)
  owed.add({ lane: 'bulk', taken, by })
  assert.deepEqual(take(owed, 50_001, { mono: 5000, store: null }), [])
  by.overAt = 5000
  assert.equal(take(owed, 50_001, { mono: 5001, store: null }).length, 1)
})

test('[X8] what a take that looked for it did not find is looked for no more, though it may still have waited', () => {
  const owed = new Owed()
  owed.add({ lane: 'bulk', taken, by: madeBy(Infinity) })
  const request = { partitions: [1], lane: 'bulk', from: 50_000, limit: 1 } as const
  const now = { mono: 5000, store: null }
  const cut = { ...taken, key: 'other', turn: 8 }
  owed.sent(request, now, () => true).answered({ now: 60_000, runs: [cut], nextDueAt: null })
  const [debt] = owed.sent({ ...request, from: 50_001 }, now, () => false).wrong
  assert.equal(debt, undefined)
  const by = madeBy(5000)
  owed.add({ lane: 'bulk', taken, by })
  assert.equal(take(owed, 50_001, { mono: 5001, store: null }).length, 1)
  owed.sent(request, now, () => true).answered({ now: 60_000, runs: [], nextDueAt: null })
  assert.deepEqual(take(owed, 50_001, { mono: 5002, store: null }), [])
})

test('[X9] a take that comes long after the last sweep, and looks back no further, is found', () => {
  const owed = new Owed()
  assert.deepEqual(take(owed, 0, { mono: 0, store: 60_000 }), [])
  assert.deepEqual(take(owed, 60_900, { mono: 0, store: 61_000 }), [])
  assert.match(
    take(owed, 62_000, { mono: 0, store: 62_500 }).join(),
    /^\[X9\] .* its last sweep was at 60000$/,
  )
  assert.deepEqual(take(owed, 50_000, { mono: 0, store: 62_500 }), [])
  assert.deepEqual(take(owed, 62_900, { mono: 0, store: 63_000 }), [])
})
