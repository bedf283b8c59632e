import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lane } from '../../../src/pool/entry.ts'
import { Turns } from '../../../src/pool/lanes.ts'

function play(turns: Turns, times: number, has: (lane: Lane) => boolean): Record<Lane, number> {
  const counts = { fanout: 0, normal: 0, bulk: 0 }
  for (let nth = 0; nth < times; nth += 1) {
    const lane = turns.next(has)
    if (lane !== null) counts[lane] += 1
  }
  return counts
}

test('[X6] lanes that all have work go by their weights, 6 to 3 to 1', () => {
  assert.deepEqual(
    play(new Turns(), 1000, () => true),
    { fanout: 600, normal: 300, bulk: 100 },
  )
})

test('[X6] a lane without work leaves its share to the others, and saves nothing up', () => {
  const turns = new Turns()
  assert.deepEqual(
    play(turns, 400, (lane) => lane !== 'fanout'),
    { fanout: 0, normal: 300, bulk: 100 },
  )
  assert.deepEqual(
    play(turns, 10, () => true),
    { fanout: 6, normal: 3, bulk: 1 },
  )
})

test('[X6] a lane alone has all of it, and with no work at all nobody goes', () => {
  assert.equal(play(new Turns(), 10, (lane) => lane === 'bulk').bulk, 10)
  assert.equal(
    new Turns().next(() => false),
    null,
  )
})
