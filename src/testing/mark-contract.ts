// Marks of runs that may have ended their process, and what fences know of it: rules [X41] to [X43] of docs/spec/work.md.
import assert from 'node:assert/strict'
import type { Outcome } from '../pool/settle.ts'
import type { Store } from '../store.ts'
import type { Case } from './contract.ts'
import { partitionOf } from '../partition.ts'
import { openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const RESOURCE = 'pool/work'

const held = (epoch: number): { partition: number; epoch: number }[] => [{ partition: 0, epoch }]

async function suspectsOf(
  store: Store,
  owner: string,
  epoch: number,
  concurrency: number,
): Promise<number | undefined> {
  const answers = await store.fences.raise(RESOURCE, { owner, held: held(epoch), concurrency })
  return answers[0]?.suspects
}

const OUTCOMES: Outcome[] = [
  { kind: 'again', dueAt: START },
  { kind: 'retry', dueAt: START },
]

export const markCases: Case[] = [
  {
    title: '[X41] a mark writes the crashes of a run, and nothing else; repeated it counts once',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '7' })
      const run = await pool.takeOne()
      const before = await pool.get('a')
      assert.equal(run.crashes, 0)
      for (const crashes of [1, 1, 2]) {
        assert.deepEqual(await pool.mark(run, crashes), { result: 'marked', nextDueAt: START })
        assert.deepEqual(await pool.get('a'), { ...before, crashes })
        assert.deepEqual(await pool.takeOne(), { ...run, crashes })
      }
    },
  },
  {
    title: '[X41] a slot that is marked keeps its turn, and runs and settles once',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      for (const at of [START, START + 1000]) await pool.put('a', { at, payload: '7' })
      const run = await pool.takeOne()
      assert.deepEqual(await pool.mark(run, 1), { result: 'marked', nextDueAt: START })
      assert.deepEqual(await pool.takeOne(), { ...run, crashes: 1 })
      assert.equal((await pool.list()).length, 2)
      assert.deepEqual((await pool.put('a', { at: START })).result, 'kept')
      assert.equal((await pool.settle(run, { kind: 'done' })).result, 'settled')
      assert.deepEqual(await pool.take(), [])
    },
  },
  {
    title: '[X41] a mark of a turn that is gone writes nothing, and answers the next due time',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.settle(run, { kind: 'again', dueAt: START + 500 })
      const before = await pool.get('a')
      assert.deepEqual(await pool.mark(run, 1), { result: 'gone', nextDueAt: START + 500 })
      assert.deepEqual(await pool.get('a'), before)
      await pool.cancel('a')
      assert.deepEqual(await pool.mark(run, 1), { result: 'gone', nextDueAt: null })
    },
  },
  {
    title: '[X41] a mark of a run that is dead by now writes nothing',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.settle(run, { kind: 'dead', reason: 'no', error: null })
      const { turn } = await pool.get('a')
      assert.deepEqual(await pool.mark({ ...run, turn }, 1), { result: 'gone', nextDueAt: null })
      assert.equal((await pool.get('a')).crashes, 0)
    },
  },
  {
    title: '[X41] [F2] [P5] a mark under a claim that is not the fence changes nothing, and says so',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 1 })
      await pool.put('a')
      const run = await pool.takeOne()
      await store.fences.raise(RESOURCE, { owner: 'new', held: held(2) })
      const claims = [pool.claim, { owner: 'new', held: held(3) }, { owner: 'new', held: [] }]
      for (const claim of claims) {
        assert.deepEqual(await pool.mark(run, 1, claim), { result: 'refused', nextDueAt: null })
        assert.equal((await pool.get('a')).crashes, 0)
      }
      const answer = await pool.mark(run, 1, { owner: 'new', held: held(2) })
      assert.deepEqual(answer, { result: 'marked', nextDueAt: START })
    },
  },
  {
    title:
      '[X41] [F2] a mark of a key that was cancelled and put into another partition is gone, not refused',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { group: 'g0' })
      const run = await pool.takeOne()
      await pool.cancel('a')
      const groups = ['g1', 'g2', 'g3', 'g4', 'g5']
      const group = groups.find((each) => partitionOf(each, 4) !== run.partition) ?? ''
      await pool.put('a', { group })
      const ours = pool.claim.held.filter(({ partition }) => partition === run.partition)
      const answer = await pool.mark(run, 1, { ...pool.claim, held: ours })
      assert.deepEqual(answer, { result: 'gone', nextDueAt: START })
      assert.equal((await pool.get('a')).crashes, 0)
    },
  },
  {
    title: '[X41] many marks of one call are answered one by one, in order',
    run: async ({ store }) => {
      const pool = await openPool(store)
      for (const key of ['d', 'b', 'a', 'c']) await pool.put(key)
      const runs = new Map((await pool.take()).map((run) => [run.key, run]))
      await pool.cancel('b')
      const marks = ['d', 'b', 'c'].map((key) => ({ key, slot: null, turn: runs.get(key)?.turn ?? 0 }))
      const asked = marks.map((mark, nth) => ({ ...mark, crashes: nth + 1 }))
      const answers = await store.pool.entries.mark('work', asked, pool.claim)
      assert.deepEqual(
        answers.map(({ result }) => result),
        ['marked', 'gone', 'marked'],
      )
      const left = (await pool.list()).map(({ key, crashes }) => `${key} ${crashes}`)
      assert.deepEqual(left, ['a 0', 'c 3', 'd 1'])
      assert.deepEqual(await store.pool.entries.mark('work', [], pool.claim), [])
    },
  },
  ...OUTCOMES.map((outcome): Case => {
    return {
      title: `[X42] a settle with ${outcome.kind} takes the mark off`,
      run: async ({ store }) => {
        const pool = await openPool(store)
        await pool.put('a')
        const run = await pool.takeOne()
        await pool.mark(run, 2)
        await pool.settle(run, outcome)
        assert.equal((await pool.takeOne()).crashes, 0)
      },
    }
  }),
  {
    title: '[X42] puts leave the mark, and what goes on after a death has none',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.mark(run, 2)
      await pool.put('a')
      await pool.put('a', { at: START + 500, onConflict: 'replace' })
      assert.deepEqual([(await pool.takeOne()).crashes, (await pool.takeOne()).seen], [2, 2])
      await pool.settle(run, { kind: 'dead', reason: 'crashed', error: null })
      const { crashes, next, after } = await pool.get('a')
      assert.deepEqual([crashes, next.tally, after?.tally], [0, 1, 1])
    },
  },
  {
    title: '[X42] [S10] a dead entry that is redriven, or put again, has no crashes',
    run: async ({ store }) => {
      const pool = await openPool(store)
      for (const key of ['a', 'b']) {
        await pool.put(key)
        const run = await pool.takeOne()
        await pool.mark(run, 2)
        await pool.settle(run, { kind: 'dead', reason: 'crashed', error: null })
        assert.equal((await pool.get(key)).crashes, 0)
      }
      const deaths = await pool.dead.list('work', { key: 'a', limit: 1 })
      await pool.dead.redrive(
        'work',
        deaths.map(({ id }) => id),
      )
      await pool.put('b')
      const runs = await pool.take()
      assert.deepEqual(
        runs.map(({ crashes }) => crashes),
        [0, 0],
      )
    },
  },
  {
    title: '[X43] a raise answers what the owner before may have had under way, also when it is asked again',
    run: async ({ store }) => {
      assert.equal(await suspectsOf(store, 'a', 1, 50), 0)
      assert.equal(await suspectsOf(store, 'a', 1, 50), 0)
      assert.equal(await suspectsOf(store, 'b', 2, 8), 50)
      assert.equal(await suspectsOf(store, 'b', 2, 8), 50)
      assert.equal(await suspectsOf(store, 'a', 1, 50), 0)
      assert.equal(await suspectsOf(store, 'b', 3, 8), 0)
      assert.equal(await suspectsOf(store, 'c', 4, 0), 8)
      assert.equal(await suspectsOf(store, 'd', 5, 1), 0)
    },
  },
  {
    title:
      '[X43] [F2] a fence that its owner released answers none, and one that another releases is as before',
    run: async ({ store }) => {
      const { fences } = store
      await suspectsOf(store, 'a', 1, 50)
      const before = await fences.fences(RESOURCE)
      for (const claim of [
        { owner: 'b', held: held(1) },
        { owner: 'a', held: held(2) },
      ])
        await fences.release(RESOURCE, claim)
      assert.equal(await suspectsOf(store, 'b', 2, 8), 50)
      await fences.release(RESOURCE, { owner: 'b', held: held(2) })
      assert.deepEqual(await fences.fences(RESOURCE), [{ ...before[0], owner: 'b', epoch: 2 }])
      assert.equal(await suspectsOf(store, 'c', 3, 4), 0)
      assert.equal(await suspectsOf(store, 'd', 4, 4), 4)
    },
  },
]
