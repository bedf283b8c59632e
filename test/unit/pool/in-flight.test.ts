// What a worker has in flight: keys, turns and takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TakenRun } from '../../../src/pool/entry.ts'
import { InFlight } from '../../../src/pool/in-flight.ts'

function runOf(key: string, turn: number, slot: number | null = null, partition = 0): TakenRun {
  return {
    key,
    slot,
    group: key,
    partition,
    turn,
    dueAt: 100,
    seen: 1,
    payload: null,
    attempt: 0,
    crashes: 0,
    putAt: 0,
  }
}

interface Item {
  taken: TakenRun
}

const itemOf = (key: string, turn: number, dueAt = 100, payload: string | null = null): Item => {
  return { taken: { ...runOf(key, turn, turn), dueAt, payload } }
}

const FREE = { next: null, passedOver: null }

/** A book in which the run of `a` with turn 1 is in flight. */
function withOne(): InFlight<Item> {
  const book = new InFlight<Item>()
  assert.equal(book.admit(runOf('a', 1)), 'free')
  book.add({ taken: runOf('a', 1) })
  return book
}

test('[X2] a run that is in flight is not admitted again', () => {
  const book = withOne()
  assert.equal(book.admit(runOf('a', 1)), 'here')
  assert.deepEqual([book.admit(runOf('b', 2)), book.size], ['free', 1])
})

test('[V4] another turn of a key waits until the run of the key has ended, also after a cancel and a put', () => {
  const book = withOne()
  assert.equal(book.admit(runOf('a', 2)), 'busy')
  assert.deepEqual(book.settle(runOf('a', 1)), FREE)
  assert.equal(book.admit(runOf('a', 2)), 'free')
})

test('[X2] another slot of a key waits as well, with the same turn number in another partition, too', () => {
  const book = withOne()
  assert.equal(book.admit(runOf('a', 5, 77)), 'busy')
  assert.equal(book.admit(runOf('a', 1, null, 9)), 'busy')
})

test('[V11] the earliest run that was passed over is told when the run in its way ends', () => {
  const book = withOne()
  const huge = itemOf('a', 2, 150, 'x'.repeat(20_000_000))
  assert.equal(book.putBehind(huge), null)
  for (const [turn, dueAt] of [
    [3, 300],
    [4, 200],
    [5, 400],
  ] as const)
    assert.equal(book.putBehind(itemOf('a', turn, dueAt))?.taken.turn, turn)
  assert.deepEqual(book.release('a'), { next: huge, passedOver: null })
  assert.deepEqual(book.release('a'), { next: null, passedOver: 200 })
  assert.deepEqual(book.release('a'), FREE)
})

test('[X20] runs behind one of their key follow it in due order, whatever the order they came in', () => {
  const book = withOne()
  for (const [turn, dueAt] of [
    [2, 300],
    [3, 200],
    [4, 300],
    [5, 100],
  ] as const)
    assert.equal(book.putBehind(itemOf('a', turn, dueAt)), null)
  assert.deepEqual([book.admit(runOf('a', 4, 4)), book.admit(runOf('a', 4, 4, 7))], ['here', 'busy'])
  const order = Array.from({ length: 4 }, () => book.release('a').next?.taken.turn)
  assert.deepEqual([order, book.size], [[5, 3, 2, 4], 1])
  assert.deepEqual([book.release('a'), book.size], [FREE, 0])
})

test('[X20] there is room for 1,000 runs of a key and 10,000 in all, the earliest of each, and none overtakes', () => {
  const book = withOne()
  for (let turn = 2; turn < 1002; turn += 1) assert.equal(book.putBehind(itemOf('a', turn, turn)), null)
  assert.equal(book.putBehind(itemOf('a', 2000, 2000))?.taken.turn, 2000)
  assert.equal(book.putBehind(itemOf('a', 3000, 1))?.taken.turn, 1001)
  assert.equal(book.release('a').next?.taken.turn, 3000)
  assert.equal(book.putBehind(itemOf('a', 3001, 1001))?.taken.turn, 3001)
  assert.equal(book.putBehind(itemOf('a', 3002, 1000)), null)
  for (let nth = 0; nth < 10; nth += 1) {
    book.add(itemOf(`k${nth}`, 1))
    for (let turn = 2; turn < 1002; turn += 1) book.putBehind(itemOf(`k${nth}`, turn, turn))
  }
  assert.deepEqual(book.drop(() => true).length, 10_000)
  assert.deepEqual(book.release('k9'), { next: null, passedOver: 2 })
})

test('[X20] what is dropped takes along what is due after it, so that nothing that was passed over is overtaken', () => {
  const book = withOne()
  for (const [turn, dueAt] of [
    [2, 200],
    [3, 300],
    [4, 400],
  ] as const)
    assert.equal(book.putBehind(itemOf('a', turn, dueAt)), null)
  assert.deepEqual(
    book.drop(({ taken }) => taken.turn === 3).map(({ taken }) => taken.turn),
    [3, 4],
  )
  assert.equal(book.putBehind(itemOf('a', 5, 350))?.taken.turn, 5)
  assert.equal(book.release('a').next?.taken.turn, 2)
  assert.deepEqual(book.release('a'), { next: null, passedOver: 300 })
})

test('[X20] a run behind another is not taken for one of the same turn in another partition', () => {
  const book = withOne()
  const runs = [7, 8].map((partition) => ({ taken: runOf('a', 2, partition, partition) }))
  for (const run of runs) {
    assert.equal(book.admit(run.taken), 'busy')
    assert.equal(book.putBehind(run), null)
  }
  for (const { taken } of runs) assert.equal(book.admit(taken), 'here')
})

test('[X3] a settled turn is not admitted from a take that began before its settle was answered', () => {
  const book = withOne()
  const take = book.beginTake()
  book.settle(runOf('a', 1))
  assert.equal(book.admit(runOf('a', 1)), 'here')
  assert.equal(book.admit(runOf('a', 2)), 'free')
  book.endTake(take)
  // Turns are never reused; this shows that it was forgotten.
  assert.equal(book.admit(runOf('a', 1)), 'free')
})

test('[X3] a settled turn stays while the oldest take that began before is under way, whatever later ones do', () => {
  const book = withOne()
  const [slow, quick] = [book.beginTake(), book.beginTake()]
  book.settle(runOf('a', 1))
  const later = book.beginTake()
  book.endTake(quick)
  book.endTake(later)
  assert.equal(book.admit(runOf('a', 1)), 'here')
  book.endTake(slow)
  assert.equal(book.admit(runOf('a', 1)), 'free')
})

test('[X3] a settled turn does not wait for takes that began later', () => {
  const book = withOne()
  const before = book.beginTake()
  book.settle(runOf('a', 1))
  book.beginTake()
  book.endTake(before)
  assert.equal(book.admit(runOf('a', 1)), 'free')
})

test('[X3] turns of different partitions do not mix', () => {
  const book = withOne()
  book.beginTake()
  book.settle(runOf('a', 1))
  assert.equal(book.admit(runOf('b', 1, null, 3)), 'free')
})

test('[X3] a settled turn of a key that runs again is not taken for a run that was passed over', () => {
  const book = withOne()
  const take = book.beginTake()
  book.settle(runOf('a', 1))
  book.add({ taken: runOf('a', 2) })
  assert.equal(book.admit(runOf('a', 1)), 'here')
  assert.deepEqual(book.release('a'), FREE)
  book.endTake(take)
})

test('[X2] a run that is let go may be taken again at once', () => {
  const book = withOne()
  book.beginTake()
  book.release('a')
  assert.deepEqual([book.admit(runOf('a', 1)), book.size], ['free', 0])
})
