import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leastDisturbed } from '../../../bench/ask.ts'
import { parseCoreTime, stolenBetween } from '../../../bench/steal.ts'

test('what the host stole is a share of the time of all cores', () => {
  const before = parseCoreTime('cpu  100 0 100 700 50 0 0 50 7 0\ncpu0 1 2 3\n')
  const after = parseCoreTime('cpu  200 0 200 1300 100 0 0 200 9 0\ncpu0 1 2 3\n')
  assert.deepEqual(before, { all: 1000, stolen: 50 })
  assert.equal(stolenBetween(before, after), 15)
})

test('a system that does not tell is no reason to try again', () => {
  assert.equal(parseCoreTime('cpu0 1 2 3\n'), undefined)
  assert.equal(parseCoreTime(''), undefined)
  assert.equal(stolenBetween(undefined, { all: 1, stolen: 0 }), undefined)
})

test('the try that the host disturbed least counts, also if it measured less', () => {
  const tries = [
    { stolen: 30, value: 9 },
    { stolen: 2, value: 5 },
    { stolen: 8, value: 7 },
  ]
  assert.equal(leastDisturbed(tries).value, 5)
})
