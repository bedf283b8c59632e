// From where a lane is read, and when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cursor } from '../../../src/pool/cursor.ts'

const NOW = 1_000_000

/** A take that answers all. */
function read(cursor: Cursor, now: number, nextDueAt: number | null = null): number {
  const from = cursor.begin(now, 0)
  cursor.end({ now, cutAt: null, nextDueAt })
  return from
}

/** A cursor that has read everything, and stands 250 ms before NOW. */
function fresh(): Cursor {
  const cursor = new Cursor()
  assert.equal(read(cursor, NOW), 0)
  return cursor
}

test('[X7] the cursor stays 250 ms behind the time of the take', () => {
  const cursor = fresh()
  assert.equal(read(cursor, NOW + 100), NOW - 250)
  assert.equal(read(cursor, NOW + 200), NOW - 150)
})

test('[X7] the cursor never passes a run that a limit cut off, and the next take is worth while at once', () => {
  const cursor = fresh()
  cursor.begin(NOW + 10, 0)
  cursor.end({ now: NOW + 10, cutAt: NOW - 4000, nextDueAt: null })
  assert.ok(cursor.wakeAt <= NOW)
  assert.equal(cursor.begin(NOW + 20, 0), NOW - 4000)
  cursor.end({ now: NOW + 20, cutAt: NOW + 15, nextDueAt: null })
  assert.equal(cursor.begin(NOW + 30, 0), NOW - 230)
})

test('[X8] [V10] what is told of lowers the cursor once, and wakes', () => {
  const cursor = fresh()
  assert.equal(cursor.wakeAt, Infinity)
  cursor.lower(NOW - 60_000)
  cursor.lower(NOW - 50_000)
  assert.equal(cursor.wakeAt, NOW - 60_000)
  assert.equal(read(cursor, NOW + 10), NOW - 60_000)
  assert.equal(read(cursor, NOW + 20), NOW - 240)
})

test('[X8] what is told of during a take counts for the next one', () => {
  const cursor = fresh()
  cursor.begin(NOW + 10, 0)
  cursor.lower(NOW - 9000)
  cursor.end({ now: NOW + 10, cutAt: null, nextDueAt: null })
  assert.equal(cursor.wakeAt, NOW - 9000)
  assert.equal(cursor.begin(NOW + 20, 0), NOW - 9000)
})

test('[X8] a take that failed is made again from the same place', () => {
  const cursor = fresh()
  cursor.lower(NOW - 9000)
  cursor.begin(NOW + 10, 0)
  cursor.lower(NOW - 5000)
  cursor.fail()
  assert.ok(cursor.wakeAt <= NOW)
  assert.equal(cursor.begin(NOW + 20, 0), NOW - 9000)
})

test('[X9] once a second a take looks back ten seconds behind the sweep before', () => {
  const cursor = fresh()
  assert.deepEqual([cursor.sweeps(NOW + 999, 0), cursor.sweeps(NOW + 1000, 0)], [false, true])
  assert.equal(read(cursor, NOW + 999), NOW - 250)
  assert.equal(read(cursor, NOW + 1000), NOW - 10_000)
  assert.equal(read(cursor, NOW + 1100), NOW + 750)
})

test('[X9] with thousands in flight, which a sweep reads again, there are fewer sweeps, and one in five seconds at least', () => {
  const cursor = fresh()
  const firstSweep = (inFlight: number): number => {
    let after = 0
    while (!cursor.sweeps(NOW + after, inFlight)) after += 1
    return after
  }
  assert.deepEqual([0, 4000, 12_000, 100_000].map(firstSweep), [1000, 1000, 3000, 5000])
  cursor.begin(NOW + 2999, 12_000)
  cursor.end({ now: NOW + 2999, cutAt: null, nextDueAt: null })
  assert.equal(cursor.begin(NOW + 3000, 12_000), NOW - 10_000)
})

test('[X9] [V7] after an outage the sweep looks back behind the last one that was answered', () => {
  const cursor = fresh()
  for (const after of [20_000, 40_000]) {
    cursor.begin(NOW + after, 0)
    cursor.fail()
  }
  assert.equal(read(cursor, NOW + 60_000), NOW - 10_000)
  assert.equal(read(cursor, NOW + 61_000), NOW + 50_000)
})

test('[X9] everything is read at a take-over, also when a take was under way then, and every ten minutes', () => {
  const cursor = fresh()
  cursor.begin(NOW + 10, 0)
  cursor.widen()
  cursor.end({ now: NOW + 10, cutAt: null, nextDueAt: null })
  assert.equal(cursor.wakeAt, 0)
  assert.equal(read(cursor, NOW + 20), 0)
  assert.ok(read(cursor, NOW + 599_000) > 0)
  assert.equal(read(cursor, NOW + 601_000), 0)
})

test('[X9] a clock of the store that was set back has everything read', () => {
  const cursor = fresh()
  read(cursor, NOW - 3_600_000)
  assert.equal(cursor.wakeAt, 0)
  assert.equal(read(cursor, NOW - 3_599_000), 0)
})

test('[X10] the next take is worth while when the next run is due, or sooner when something is told of', () => {
  const cursor = new Cursor()
  read(cursor, NOW, NOW + 5000)
  assert.equal(cursor.wakeAt, NOW + 5000)
  cursor.wakeBy(NOW + 7000)
  cursor.lower(NOW + 3000)
  assert.equal(cursor.wakeAt, NOW + 3000)
  // What is due later lies before the cursor anyway.
  assert.equal(read(cursor, NOW + 100), NOW - 250)
})

test('[X9] a time of the store long before the last sweep is one for a sweep, which finds that it was set back', () => {
  const cursor = fresh()
  assert.deepEqual([cursor.sweeps(NOW - 500, 0), cursor.sweeps(NOW - 3_600_000, 0)], [false, true])
  read(cursor, NOW - 3_600_000)
  assert.equal(cursor.begin(NOW - 3_600_000, 0), 0)
})

test('[X48] after a part of what is due the rest and what is new are read in turns, to where the cursor stood', () => {
  const cursor = new Cursor()
  assert.equal(cursor.begin(NOW, 0), 0)
  cursor.end({ now: NOW, cutAt: 300, nextDueAt: null, isPart: true })
  assert.ok(cursor.isBehind && cursor.wakeAt <= NOW)
  assert.equal(cursor.begin(NOW + 10, 0), 300)
  cursor.end({ now: NOW + 10, cutAt: 700, nextDueAt: null, isPart: true })
  assert.equal(read(cursor, NOW + 20), NOW - 10_000)
  assert.ok(cursor.wakeAt <= NOW, 'the rest is worth while at once')
  assert.equal(cursor.begin(NOW + 30, 0), 700)
  cursor.fail()
  assert.equal(read(cursor, NOW + 40), NOW - 230)
  assert.equal(cursor.begin(NOW + 50, 0), 700)
  cursor.end({ now: NOW + 50, cutAt: NOW - 200, nextDueAt: null, isPart: true })
  assert.ok(!cursor.isBehind && cursor.wakeAt === Infinity)
})

test('[X48] at a take-over everything is read again, also while a rest is being read', () => {
  const cursor = fresh()
  cursor.lower(500)
  cursor.begin(NOW + 10, 0)
  cursor.end({ now: NOW + 10, cutAt: 600, nextDueAt: null, isPart: true })
  cursor.widen()
  assert.equal(read(cursor, NOW + 20), 0)
  assert.ok(!cursor.isBehind)
})
