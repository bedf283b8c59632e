// What a worker has in flight: keys, turns and takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InFlight, type RunName } from '../../../src/pool/in-flight.ts'

function runOf(key: string, turn: number, slot: number | null = null, partition = 0): RunName {
  return { key, slot, partition, turn }
}

/** A book in which the run of `a` with turn 1 is in flight. */
function withOne(): InFlight {
  const book = new InFlight()
  assert.equal(book.admit(runOf('a', 1), 100), 'free')
  book.add(runOf('a', 1))
  return book
}

test('[X2] a run that is in flight is not admitted again', () => {
  const book = withOne()
  assert.equal(book.admit(runOf('a', 1), 100), 'here')
  assert.deepEqual([book.admit(runOf('b', 2), 100), book.size], ['free', 1])
})

test('[V4] another turn of a key waits until the run of the key has ended, also after a cancel and a put', () => {
  const book = withOne()
  assert.equal(book.admit(runOf('a', 2), 200), 'busy')
  assert.equal(book.settle(runOf('a', 1)), 200)
  assert.equal(book.admit(runOf('a', 2), 200), 'free')
})

test('[X2] another slot of a key waits as well, with the same turn number in another partition, too', () => {
  const book = withOne()
  assert.equal(book.admit(runOf('a', 5, 77), 300), 'busy')
  assert.equal(book.admit(runOf('a', 1, null, 9), 300), 'busy')
})

test('[V11] the earliest run that was passed over is told when the run in its way ends', () => {
  const book = withOne()
  for (const [turn, dueAt] of [
    [2, 300],
    [3, 200],
    [4, 400],
  ] as const)
    assert.equal(book.admit(runOf('a', turn, turn), dueAt), 'busy')
  assert.equal(book.release({ key: 'a' }), 200)
  book.add(runOf('a', 3, 3))
  assert.equal(book.release({ key: 'a' }), null)
})

test('[X3] a settled turn is not admitted from a take that began before its settle was answered', () => {
  const book = withOne()
  const take = book.beginTake()
  book.settle(runOf('a', 1))
  assert.equal(book.admit(runOf('a', 1), 100), 'here')
  assert.equal(book.admit(runOf('a', 2), 150), 'free')
  book.endTake(take)
  // Turns are never reused; this shows that it was forgotten.
  assert.equal(book.admit(runOf('a', 1), 100), 'free')
})

test('[X3] a settled turn stays while the oldest take that began before is under way, whatever later ones do', () => {
  const book = withOne()
  const [slow, quick] = [book.beginTake(), book.beginTake()]
  book.settle(runOf('a', 1))
  const later = book.beginTake()
  book.endTake(quick)
  book.endTake(later)
  assert.equal(book.admit(runOf('a', 1), 100), 'here')
  book.endTake(slow)
  assert.equal(book.admit(runOf('a', 1), 100), 'free')
})

test('[X3] a settled turn does not wait for takes that began later', () => {
  const book = withOne()
  const before = book.beginTake()
  book.settle(runOf('a', 1))
  book.beginTake()
  book.endTake(before)
  assert.equal(book.admit(runOf('a', 1), 100), 'free')
})

test('[X3] turns of different partitions do not mix', () => {
  const book = withOne()
  book.beginTake()
  book.settle(runOf('a', 1))
  assert.equal(book.admit(runOf('b', 1, null, 3), 100), 'free')
})

test('[X3] a settled turn of a key that runs again is not taken for a run that was passed over', () => {
  const book = withOne()
  const take = book.beginTake()
  book.settle(runOf('a', 1))
  book.add(runOf('a', 2))
  assert.equal(book.admit(runOf('a', 1), 100), 'here')
  assert.equal(book.release({ key: 'a' }), null)
  book.endTake(take)
})

test('[X2] a run that is let go may be taken again at once', () => {
  const book = withOne()
  book.beginTake()
  book.release({ key: 'a' })
  assert.deepEqual([book.admit(runOf('a', 1), 100), book.size], ['free', 0])
})
