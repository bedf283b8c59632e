// The judge of the race finds what it is there for. The race itself is run by proof/04/race.rows.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RaceRecord, judgeRace } from './race-pool.ts'

const RIGHT: RaceRecord = {
  puts: new Map([
    ['a', 3],
    ['b', 2],
  ]),
  seen: new Map([
    ['a', 3],
    ['b', 2],
  ]),
  settled: 4,
  live: [],
}

test('[P4] where every put was seen once nothing is wrong', () => {
  assert.deepEqual(judgeRace(RIGHT), { puts: 5, settled: 4, wrong: [], stuck: [] })
})

test('[P4] a put that was lost, or seen twice, or never made, is found, and so is a key that is stuck', () => {
  const seen = new Map([
    ['a', 2],
    ['b', 3],
    ['c', 1],
  ])
  const { wrong, stuck } = judgeRace({ ...RIGHT, seen, live: ['b'] })
  assert.deepEqual(wrong, ['a: 3 puts, 2 seen', 'b: 2 puts, 3 seen', 'c: 0 puts, 1 seen'])
  assert.deepEqual(stuck, ['b'])
  assert.deepEqual(judgeRace({ ...RIGHT, seen: new Map([['a', 3]]) }).wrong, ['b: 2 puts, 0 seen'])
})
