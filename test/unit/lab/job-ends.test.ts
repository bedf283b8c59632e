// How a run should end and be settled: one that does not is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { racesOf, wrongWithEnd, wrongWithSettle } from '../../../src/lab/simulation/job-ends.ts'
import type { Ending } from '../../../src/lab/simulation/made.ts'
import type { AbortCause } from '../../../src/pool/run.ts'
import type { Outcome } from '../../../src/pool/settle.ts'
import { madeOf, takenOf } from './made-up.ts'

const CALLED_OFF = 'a run was called off that another member had cancelled'
const DEAD: Outcome = { kind: 'dead', reason: 'given up', error: null }
const RETRY: Outcome = { kind: 'retry', dueAt: 0 }

/** What is wrong with a settle after the first of two attempts, or the last. */
function settled(ending: Ending, outcome: Outcome, { attempt = 0, epoch = 1 } = {}): string {
  const made = madeOf({ ending, taken: takenOf(1, { attempt }) })
  const claim = { owner: 'm1', held: [{ partition: 1, epoch }] }
  return wrongWithSettle(made, { outcome, claim, attempts: 2 }).join()
}

test('[X11] a run that is settled otherwise than it ended is found', () => {
  assert.equal(settled('done', { kind: 'done' }), '')
  assert.equal(settled('throw', RETRY), '')
  assert.equal(settled('retry', DEAD, { attempt: 1 }), '')
  assert.match(settled('done', RETRY), /^\[X11\] and ended with done, and is settled as retry/)
  assert.match(settled('throw', DEAD), /^\[X11\]/)
  assert.match(settled('throw', RETRY, { attempt: 1 }), /^\[X11\]/)
  assert.match(settled('cancel', { kind: 'done' }), /^\[X11\]/)
})

test('[X14] [X15] [X24] a settle of what was let go or called off, or under another epoch, is found', () => {
  const claim = { owner: 'm1', held: [{ partition: 1, epoch: 1 }] }
  const thrown = (why: AbortCause): string =>
    wrongWithSettle(madeOf({ ending: 'throw' }, why), { outcome: RETRY, claim, attempts: 2 }).join()
  assert.match(thrown('stop'), /^\[X14\]/)
  assert.match(thrown('lost'), /^\[X14\]/)
  assert.match(thrown('cancel'), /^\[X24\]/)
  assert.equal(thrown('timeout'), '')
  assert.match(settled('done', { kind: 'done' }, { epoch: 2 }), /^\[X15\]/)
})

test('[X13] a run that takes longer than its timeout, and is not aborted, is found', () => {
  const took = (ms: number, why: AbortCause | null = null): string =>
    wrongWithEnd(madeOf({ ending: 'done', endedAt: ms }, why), 200).join()
  assert.equal(took(200), '')
  assert.equal(took(201, 'timeout'), '')
  assert.match(took(201), /^\[X13\] and took 201 ms without an abort/)
  assert.equal(wrongWithEnd(madeOf({ ending: 'done', endedAt: 201 }), null).join(), '')
})

test('[X24] a run whose entry was cancelled on its member, and whose signal did not fire, is found', () => {
  const ended = (why: AbortCause | null): string =>
    wrongWithEnd(madeOf({ ending: 'done', cancelledAt: 5, endedAt: 6 }, why), null).join()
  assert.match(ended(null), /^\[X24\]/)
  assert.equal(ended('cancel'), '')
})

test('[X24] a run counts as called off by another member only if its own has not asked for it', () => {
  const called = madeOf({ ending: 'throw' }, 'cancel')
  assert.deepEqual(racesOf(called, false), [CALLED_OFF])
  assert.deepEqual(racesOf(called, true), [])
  assert.deepEqual(racesOf(madeOf({ ending: 'throw' }, 'stop'), false), [])
})
