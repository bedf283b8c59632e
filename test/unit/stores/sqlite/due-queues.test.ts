// The journal's due times by partition, compared with sorting everything.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry } from '../../../../src/pool/entry.ts'
import { byDue, cursorOf, isAfter } from '../../../../src/pool/order.ts'
import { type Random, createRandom } from '../../../../src/random.ts'
import { DueQueues } from '../../../../src/stores/sqlite/due-queues.ts'
import { smallest } from '../../../../src/stores/sqlite/smallest.ts'
import { entryOf } from '../entry-of.ts'

const entry = (key: string, dueAt: number, partition = 0): Entry =>
  entryOf(key, dueAt, { slot: dueAt, partition })

describe('the due times of the journal', () => {
  /** Adds and removes at random; calls back now and then with what is held, sorted. */
  function fill(seed: number, check: (queues: DueQueues, sorted: Entry[], random: Random) => void): void {
    const random = createRandom(seed)
    const queues = new DueQueues()
    const held = new Set<Entry>()
    for (let step = 0; step < 3000; step++) {
      const key = `${random.pick(['k', 'ö', '\u{fffd}', '😀'])}${step}`
      const added = entry(key, random.below(60), random.below(5))
      queues.add(added)
      held.add(added)
      const gone = random.below(3) === 0 ? [...held][random.below(held.size)] : undefined
      if (gone !== undefined && held.delete(gone)) queues.remove(gone)
      if (step % 50 === 0) check(queues, [...held].sort(byDue), random)
    }
  }

  it('give the page that sorting everything gives, and the number that is due', () => {
    fill(1, (queues, sorted, random) => {
      const after = cursorOf(random.pick(sorted))
      const before = after.dueAt + random.below(30)
      const limit = 1 + random.below(40)
      const wanted = sorted.filter((each) => isAfter(each, after) && each.next.dueAt < before)
      assert.deepEqual(queues.page({ after, before, limit }), wanted.slice(0, limit))
      assert.equal(queues.countUntil(before), sorted.filter((each) => each.next.dueAt <= before).length)
    })
  })

  it('[J7] give what is due in some partitions, in due order, and when the first of them is', () => {
    fill(2, (queues, sorted, random) => {
      const partitions = [4, 1, 0, 3, 2].filter(() => random.below(2) === 0)
      const [from, until, limit] = [random.below(30), random.below(70), 1 + random.below(200)]
      const own = sorted.filter(({ partition }) => partitions.includes(partition))
      assert.equal(queues.nextDueAt(partitions), own[0]?.next.dueAt ?? null)
      const wanted = own.filter(({ next }) => next.dueAt >= from && next.dueAt <= until)
      const found = queues.due({ partitions, from, until, limit })
      // Which of several that are due at one moment a limit lets through is not said.
      const dueAts = (entries: Entry[]): number[] => entries.map(({ next }) => next.dueAt)
      assert.deepEqual(dueAts(found), dueAts(wanted).slice(0, limit))
      assert.equal(new Set(found).size, found.length)
      assert.ok(found.every((each) => wanted.includes(each)))
    })
  })

  it('[J7] of other partitions are not looked at, however many are due', (context) => {
    const queues = new DueQueues()
    for (let nth = 0; nth < 10_000; nth++) queues.add(entry(`k${nth}`, nth, nth % 100 === 0 ? 1 : 0))
    const looks = context.mock.method(Map.prototype, 'get')
    const found = queues.due({ partitions: [1], from: 0, until: 10_000, limit: 10 })
    const first = queues.nextDueAt([1])
    const count = looks.mock.callCount()
    looks.mock.restore()
    assert.deepEqual([found.length, first], [10, 0])
    assert.ok(count < 40, `${count} looks`)
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
