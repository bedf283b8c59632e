// Where a take met a run, as the store says: a hint for its settle, and never more.
import assert from 'node:assert/strict'
import type { TakenRun } from '../pool/entry.ts'
import type { Settlement } from '../pool/settle.ts'
import type { SettleAnswer } from '../pool/store.ts'
import type { Store } from '../store.ts'
import type { Case } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

/** Runs by their keys, with their places. */
async function takeAll(store: Store): Promise<Map<string, TakenRun>> {
  const request = { partitions: null, lane: 'normal', from: 0, limit: 99 } as const
  const { runs } = await store.pool.entries.take('work', request)
  return new Map(runs.map((run) => [run.key, run]))
}

/** It is done; at the place of another one if that is given. */
function doneOf({ key, slot, turn, seen }: TakenRun, { place }: TakenRun): Settlement {
  const settlement = { key, slot, turn, seen, outcome: { kind: 'done' as const } }
  return place === undefined ? settlement : { ...settlement, place }
}

const wordsOf = (answers: readonly SettleAnswer[]): unknown[] =>
  answers.map(({ result, nextDueAt }) => [result, nextDueAt])

export const placeCases: Case[] = [
  {
    title: '[S1] [S3] [S4] at its place a run is settled by its turn, and what was put since goes on',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.putAll(
        ['marked', 'merged', 'followed', 'plain', 'plain-2', 'plain-3'].map((key) => asPut(key)),
      )
      const runs = await takeAll(store)
      await pool.mark(runs.get('marked') as TakenRun, 1)
      await pool.put('merged')
      await pool.put('followed', { at: START + 50 })
      const settlements = [...runs.values()].map((run) => doneOf(run, run))
      const answers = await store.pool.entries.settle('work', settlements, pool.claim)
      const next = new Map([
        ['merged', START],
        ['followed', START + 50],
      ])
      assert.deepEqual(
        wordsOf(answers),
        settlements.map(({ key }) => ['settled', next.get(key) ?? null]),
      )
      const left = (await pool.list()).map(({ key, next: { tally } }) => [key, tally])
      assert.deepEqual(left, [
        ['merged', 1],
        ['followed', 1],
      ])
      const gone = await store.pool.entries.settle('work', settlements, pool.claim)
      assert.deepEqual(
        wordsOf(gone),
        settlements.map(({ key }) => ['gone', next.get(key) ?? null]),
      )
    },
  },
  {
    title:
      '[S1] [P3] what stands at the place of a run is not settled for it, and one that stands twice once',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.putAll(['a', 'b', 'c', 'd'].map((key) => asPut(key)))
      const runs = await takeAll(store)
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((key) => runs.get(key)) as [
        TakenRun,
        TakenRun,
        TakenRun,
        TakenRun,
      ]
      const stale = { ...a, turn: a.turn + 1_000_000 }
      const settle = (settlements: Settlement[]): Promise<SettleAnswer[]> =>
        store.pool.entries.settle('work', settlements, pool.claim)
      assert.deepEqual(wordsOf(await settle([doneOf(stale, a), doneOf(b, c)])), [
        ['gone', START],
        ['settled', null],
      ])
      const twice = await settle([doneOf(d, d), doneOf(d, d)])
      assert.deepEqual(twice.map(({ result }) => result).toSorted(), ['gone', 'settled'])
      assert.deepEqual(
        (await pool.list()).map(({ key }) => key),
        ['a', 'c'],
      )
    },
  },
]
