// The checker of the dead finds what is planted: a death that is not recorded, and a wrong answer to a redrive or a remove.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryName } from '../../../src/pool/entry.ts'
import type { DeathRecord } from '../../../src/pool/store.ts'
import { DeathsCheck } from '../../../src/testing/check-deaths.ts'

const a = entryName('a', null)

function death(id: number): DeathRecord {
  return {
    id,
    key: 'a',
    slot: null,
    group: 'a',
    state: 'dead',
    seen: 1,
    reason: 'attempts',
    error: null,
    diedAt: 0,
  }
}

/** An entry that died twice, and its records. */
function diedTwice(): { check: DeathsCheck; records: DeathRecord[] } {
  const check = new DeathsCheck()
  check.died(a)
  check.died(a)
  return { check, records: [death(1), death(2)] }
}

test('[S6] a death of which there is no record is found', () => {
  const { check } = diedTwice()
  const call = { call: 'redrive', pool: 'work', ids: [2], records: [death(2)], answer: 1 } as const
  assert.match(
    check.judge(call, () => true).violations.join(),
    /^\[S6\] .* 1 records of death, and died 2 times/,
  )
})

test('[S10] a redrive by the newest death of a dead entry counts, and no other', () => {
  const { check, records } = diedTwice()
  const redrive = (id: number, answer: number) =>
    ({ call: 'redrive', pool: 'work', ids: [id], records, answer }) as const
  assert.deepEqual(
    check.judge(redrive(2, 1), () => true),
    { changed: [{ key: 'a', name: a }], violations: [] },
  )
  assert.deepEqual(
    check.judge(redrive(1, 0), () => true),
    { changed: [], violations: [] },
  )
  assert.match(check.judge(redrive(1, 1), () => true).violations.join(), /^\[S10\]/)
  assert.match(check.judge(redrive(2, 1), () => false).violations.join(), /^\[S10\]/)
})

test('[S11] a dead entry goes with the last of its records, and one that lives stays', () => {
  const remove = (ids: number[], entries: number, isDead: boolean) => {
    const { check, records } = diedTwice()
    const answer = { deaths: ids.length, entries }
    return check.judge({ call: 'remove', pool: 'work', ids, records, answer }, () => isDead)
  }
  assert.deepEqual(remove([2], 0, true), { changed: [], violations: [] })
  assert.deepEqual(remove([1, 2], 1, true), { changed: [{ key: 'a', name: a }], violations: [] })
  assert.deepEqual(remove([1, 2], 0, false), { changed: [], violations: [] })
  assert.match(remove([1], 1, true).violations.join(), /^\[S11\]/)
})
