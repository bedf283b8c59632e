// Where an even take is cut: before what of some partition was not read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Taken } from '../../../../src/pool/store.ts'
import { cutTo, evenCut } from '../../../../src/stores/postgres/takes.ts'

const rowOf = (...dueAts: number[]): Record<string, unknown> => ({ share: dueAts.length, due_ats: dueAts })
const READ = { least: 3, most: 5 }

test('[D5] nothing is cut where of every partition less is due than was to be read', () => {
  assert.equal(evenCut([rowOf(1, 2), rowOf(7), { share: null, due_ats: null }], READ), null)
})

test('[D5] a partition that was read with all of its last moment cuts behind that, the first of them all', () => {
  assert.equal(evenCut([rowOf(1, 2, 9), rowOf(1, 4, 6, 6), rowOf(1, 2)], READ), 7)
})

test('[D5] a partition of which the most was read cuts at its last moment, of which there may be more', () => {
  assert.equal(evenCut([rowOf(1, 2, 9), rowOf(1, 2, 6, 6, 6)], READ), 6)
})

test('[D2] more than the limit is cut at the first that is one too many, with all of its moment', () => {
  const taken = { now: 9, runs: [1, 2, 2, 3].map((dueAt) => ({ dueAt })) as Taken['runs'], nextDueAt: 12 }
  assert.equal(cutTo(4, taken), taken)
  const { runs, nextDueAt, cutAt } = cutTo(2, taken)
  assert.deepEqual([runs.map(({ dueAt }) => dueAt), nextDueAt, cutAt], [[1], null, 2])
})
