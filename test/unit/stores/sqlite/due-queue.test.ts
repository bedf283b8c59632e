// Pages and counts of the journal's due times, compared with sorting everything.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry } from '../../../../src/pool/entry.ts'
import { byDue, cursorOf, isAfter } from '../../../../src/pool/order.ts'
import { createRandom } from '../../../../src/random.ts'
import { DueQueue } from '../../../../src/stores/sqlite/due-queue.ts'
import { smallest } from '../../../../src/stores/sqlite/smallest.ts'

function entry(key: string, dueAt: number): Entry {
  return {
    key,
    slot: dueAt,
    group: key,
    partition: 0,
    turn: 1,
    lane: 'normal',
    next: { dueAt, tally: 1, payload: null },
    after: null,
    attempt: 0,
    state: 'live',
    failing: false,
    enqueuedAt: 0,
    putAt: 0,
  }
}

describe('the due times of the journal', () => {
  it('give the page that sorting everything gives, and the number that is due', () => {
    const random = createRandom(1)
    const queue = new DueQueue()
    const held = new Set<Entry>()
    for (let step = 0; step < 3000; step++) {
      const added = entry(`${random.pick(['k', 'ö', '\u{fffd}', '😀'])}${step}`, random.below(60))
      queue.add(added)
      held.add(added)
      const gone = random.below(3) === 0 ? [...held][random.below(held.size)] : undefined
      if (gone !== undefined && held.delete(gone)) queue.remove(gone)
      if (step % 50 > 0) continue
      const sorted = [...held].sort(byDue)
      const after = { ...cursorOf(sorted[random.below(sorted.length)] ?? added) }
      const before = after.dueAt + random.below(30)
      const limit = 1 + random.below(40)
      const wanted = sorted.filter((each) => isAfter(each, after) && each.next.dueAt < before)
      assert.deepEqual(queue.page({ after, before, limit }), wanted.slice(0, limit))
      assert.equal(queue.countUntil(before), sorted.filter((each) => each.next.dueAt <= before).length)
    }
  })

  it('are not sorted for a page: what sorts behind it is compared once', () => {
    const all = Array.from({ length: 100_000 }, (_, index) => index)
    let comparisons = 0
    const compare = (a: number, b: number): number => {
      comparisons += 1
      return a - b
    }
    assert.deepEqual(smallest(all, 100, compare), all.slice(0, 100))
    assert(comparisons < 102_000, `${comparisons} comparisons`)
    assert.deepEqual(smallest(all.toReversed(), 100, compare), all.slice(0, 100))
  })
})
