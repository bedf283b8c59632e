// The judge of the race finds what it is there for. The race itself is run by proof/work/race.rows.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RaceRecord, judgeRace, readSaw, sawLine } from './race-record.ts'

const DONE = { key: 'a', at: 7, seen: 2 }
const DEAD = { key: 'b', at: 5, seen: 1 }
const RIGHT: RaceRecord = {
  puts: new Map([
    ['a', 3],
    ['b', 2],
  ]),
  done: [DONE, { key: 'a', at: 9, seen: 1 }],
  dead: [DEAD, { ...DEAD, at: 6 }],
  saw: [DONE, { key: 'a', at: 9, seen: 1 }, { key: 'a', at: 8, seen: 5 }, DEAD, { ...DEAD, at: 6 }],
  left: new Map(),
}

test('[P4] where every put was seen once nothing is wrong', () => {
  assert.deepEqual(judgeRace(RIGHT), { puts: 5, done: 2, dead: 2, wrong: [], stuck: [] })
})

test('[P4] a put that was lost, or seen twice, or never made, is found', () => {
  const dead = ['b', 'b', 'b', 'c'].map((key, nth) => ({ key, at: 5 + nth, seen: 1 }))
  const { wrong } = judgeRace({ ...RIGHT, done: [DONE], dead, saw: [DONE, ...dead] })
  const expected = ['a: 3 puts, 2 seen, 0 left', 'b: 2 puts, 3 seen, 0 left', 'c: 0 puts, 1 seen, 0 left']
  assert.deepEqual(wrong, expected)
})

test('[P4] a put that goes with a run that did not see it is found, though no put is missing', () => {
  const unseen = ['a: a tally of 3 is gone that no run saw']
  assert.deepEqual(judgeRace({ ...RIGHT, done: [{ ...DONE, seen: 3 }] }).wrong, unseen)
  const later = { key: 'a', at: 8, seen: 3 }
  const saw = [later, ...RIGHT.dead]
  assert.deepEqual(judgeRace({ ...RIGHT, done: [{ ...DONE, seen: 3 }], saw }).wrong, unseen)
})

test('[P4] a record of a death that says another tally than its run saw is found, though no put is missing', () => {
  const { wrong } = judgeRace({ ...RIGHT, dead: [{ ...DEAD, seen: 2 }] })
  assert.deepEqual(wrong, ['b: a tally of 2 is gone that no run saw'])
})

test('[P4] what waits is not lost, and its key is stuck', () => {
  const { wrong, stuck } = judgeRace({ ...RIGHT, done: [DONE], left: new Map([['a', 1]]) })
  assert.deepEqual([wrong, stuck], [[], ['a']])
})

test('[P4] a line of a handler that was killed as it wrote is passed over', () => {
  assert.deepEqual(readSaw(`${sawLine(DONE)}a 1`), [DONE])
})
