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
      const keys = ['marked', 'merged', 'followed', 'plain', 'plain-2', 'plain-3']
      for (const places of ['new', 'old']) {
        await pool.putAll(keys.map((key) => asPut(`${key} ${places}`)))
        const runs = await takeAll(store)
        await pool.mark(runs.get(`marked ${places}`) as TakenRun, 1)
        await pool.put(`merged ${places}`)
        await pool.put(`followed ${places}`, { at: START + 50 })
        const met = places === 'old' ? runs : await takeAll(store)
        const settlements = keys.map((key) => {
          const name = `${key} ${places}`
          return doneOf(runs.get(name) as TakenRun, met.get(name) as TakenRun)
        })
        const settle = async (): Promise<unknown[]> =>
          wordsOf(await store.pool.entries.settle('work', settlements, pool.claim))
        const wanted = (result: string): unknown[] =>
          [null, START, START + 50, null, null, null].map((nextDueAt) => [result, nextDueAt])
        assert.deepEqual(await settle(), wanted('settled'))
        assert.deepEqual(await settle(), wanted('gone'))
        const left = (await pool.list()).map(({ key, next: { tally } }) => `${key}: ${tally}`)
        assert.deepEqual(left, [`merged ${places}: 1`, `followed ${places}: 1`])
        for (const key of ['merged', 'followed']) await pool.cancel(`${key} ${places}`)
      }
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
