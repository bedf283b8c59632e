// What waits behind the runs of a key, what was cancelled, and what is told of runs: a worker that does otherwise is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '../../../src/pool/entry.ts'
import { JobKeys, type Mark } from '../../../src/lab/simulation/job-keys.ts'
import { JobProgress } from '../../../src/lab/simulation/job-progress.ts'
import type { Made } from '../../../src/lab/simulation/made.ts'
import { contextOf } from './context-of.ts'

function markOf(turn: number, dueAt: number): Mark {
  const run = { key: 'k', group: 'k', slot: dueAt, partition: 1, turn, dueAt, putAt: dueAt }
  const taken = { ...run, seen: 1, payload: null, attempt: 0, crashes: 0 }
  return { taken, lane: 'bulk', askedAt: 0, answeredAt: 0, earlier: null, isCancelled: false }
}

function madeOf({ taken }: Mark, { ending, answer }: Pick<Made, 'ending' | 'answer'>): Made {
  const context = contextOf({ partition: 1, epoch: 1 })
  const life = { name: 'm1', isDead: false }
  const over = { endedAt: 9, abortedAt: Infinity, overAt: 9, cancelledAt: Infinity }
  return { taken, epoch: 1, context, life, startedAt: 0, ending, answer, ...over }
}

/** Two runs that wait behind a third, and their key. */
function twoBehind(): { keys: JobKeys; early: Mark; late: Mark } {
  const [keys, early, late] = [new JobKeys(), markOf(2, 20), markOf(3, 30)]
  for (const mark of [late, early]) {
    keys.add(mark)
    keys.putBehind(mark)
  }
  return { keys, early, late }
}

test('[X24] what was taken of an entry before it is looked up is gone if that has another turn, or is not there', async () => {
  const { keys, early, late } = twoBehind()
  const gone: number[] = []
  const lookUp = (slot: number | null, found: Entry | null): Promise<Entry | null> =>
    keys.lookUp(
      { key: 'k', slot },
      async () => found,
      ({ turn }) => gone.push(turn),
    )
  await lookUp(early.taken.slot, { turn: early.taken.turn } as Entry)
  assert.deepEqual([gone, keys.isCancelled(early.taken)], [[], false])
  await lookUp(early.taken.slot, { turn: 9 } as Entry)
  await lookUp(late.taken.slot, null)
  assert.deepEqual([gone, keys.isCancelled(early.taken)], [[early.taken.turn, late.taken.turn], true])
  const settled = madeOf(markOf(1, 10), { ending: 'done', answer: 'settled' })
  assert.equal(keys.start(late, settled, 9), null)
})

test('[X20] a run that overtakes another that waits behind its key is found, unless it waited for a handler, or all were let go', () => {
  const settled = madeOf(markOf(1, 10), { ending: 'done', answer: 'settled' })
  const first = twoBehind()
  assert.equal(first.keys.start(first.early, settled, 9), null)
  assert.equal(first.keys.start(first.late, settled, 9), null)
  const wrong = twoBehind()
  assert.match(String(wrong.keys.start(wrong.late, settled, 9)), /^\[X20\] and turn 2 waits/)
  const letGo = twoBehind()
  assert.equal(
    letGo.keys.start(letGo.late, madeOf(markOf(1, 10), { ending: 'throw', answer: null }), 9),
    null,
  )
  const waited = twoBehind()
  assert.equal(waited.keys.start(waited.late, settled, 10), null)
})

test('[X24] a run that starts though it was taken before its entry was cancelled is found', () => {
  const { keys, early, late } = twoBehind()
  keys.cancelling({ key: 'k', slot: 20 }, 5)()
  const settled = madeOf(markOf(1, 10), { ending: 'done', answer: 'settled' })
  assert.equal(keys.start(late, settled, 9), null)
  assert.match(String(keys.start(early, settled, 9)), /^\[X24\]/)
})

test('[X24] a turn that was cancelled when it had been taken is known by every take of it', () => {
  const { keys, early } = twoBehind()
  const again = { ...markOf(2, 20), answeredAt: 7 }
  keys.cancelling({ key: 'k', slot: 20 }, 5)()
  assert.deepEqual([keys.isCancelled(early.taken), keys.isCancelled(again.taken)], [true, true])
  assert.equal(again.isCancelled, false)
})

test('[Z6] what is told of a run that has ended, under an earlier epoch, or too often is found', () => {
  const mark = markOf(1, 10)
  const told = [{ key: 'k', slot: 10, turn: 1, progress: '1' }]
  const judge = (ending: Made['ending'], epoch: number, times = 1): string => {
    const progress = new JobProgress()
    const lastOf = (): Made => madeOf(mark, { ending, answer: null })
    const claim = { owner: 'm1', held: [{ partition: 1, epoch }] }
    return Array.from({ length: times }, (_, nth) =>
      progress.judge(told, claim, { now: 999 * nth, lastOf }),
    ).join()
  }
  assert.equal(judge(null, 1), '')
  assert.match(judge('done', 1), /which does not run/)
  assert.equal(judge(null, 2), '')
  assert.match(judge(null, 0), /which does not run/)
  assert.match(judge(null, 1, 2), /again after 999 ms/)
})
