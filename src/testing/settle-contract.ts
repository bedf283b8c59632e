// Settle: what becomes of an entry when a run of it ends.
import assert from 'node:assert/strict'
import { partitionOf } from '../partition.ts'
import type { Case } from './contract.ts'
import { settleFailureCases } from './settle-failure-contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const goneCases: Case[] = [
  {
    title: '[S1] a settle that names a turn which is gone writes nothing and still tells the next dueAt',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.settle(run, { kind: 'again', dueAt: START + 50 })
      const before = await pool.get('a')
      for (const kind of ['done', 'cancel'] as const) {
        assert.deepEqual(await pool.settle(run, { kind }), { result: 'gone', nextDueAt: START + 50 })
      }
      const late = { kind: 'retry', dueAt: START + 1 } as const
      assert.deepEqual(await pool.settle(run, late), { result: 'gone', nextDueAt: START + 50 })
      assert.deepEqual(await pool.get('a'), before)
    },
  },
  {
    title: '[V9] the repeat of a settle whose answer was lost tells the dueAt of the promoted run',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a', { at: START + 10 })
      await clock.leap(5)
      await pool.settle(run, { kind: 'done' })
      await clock.leap(20)
      assert.deepEqual(await pool.settle(run, { kind: 'done' }), { result: 'gone', nextDueAt: START + 10 })
      assert.equal((await pool.takeOne()).seen, 1)
    },
  },
  {
    title: '[S1] a settle of an entry that is not there is gone',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const run = { key: 'a', slot: null, turn: 1, seen: 1 }
      assert.deepEqual(await pool.settle(run, { kind: 'done' }), { result: 'gone', nextDueAt: null })
    },
  },
  {
    title: '[S1] a stale settle after cancel and put does not consume the new put',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const stale = await pool.takeOne()
      await pool.cancel('a')
      await pool.put('a')
      assert.deepEqual(await pool.settle(stale, { kind: 'done' }), { result: 'gone', nextDueAt: START })
      const run = await pool.takeOne()
      assert.notEqual(run.turn, stale.turn)
      assert.equal((await pool.settle(run, { kind: 'done' })).result, 'settled')
    },
  },
  {
    title: '[S1] a turn that is gone is no lost fence, though its key stands in another partition now',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 2 })
      await pool.put('a', { group: 'g1' })
      const stale = await pool.takeOne()
      await pool.cancel('a')
      const group = ['g2', 'g3', 'g4'].find((each) => partitionOf(each, 2) !== stale.partition)
      await pool.put('a', { group: group ?? '' })
      assert.notEqual((await pool.takeOne()).partition, stale.partition)
      const held = pool.claim.held.filter(({ partition }) => partition === stale.partition)
      const settlement = { ...stale, outcome: { kind: 'done' } as const }
      const answers = await pool.settleAll([settlement], { ...pool.claim, held })
      assert.deepEqual(answers, [{ result: 'gone', nextDueAt: START }])
      assert.equal((await pool.takeOne()).seen, 1)
    },
  },
  {
    title: '[S1] a run that was replaced as it fell due may end, and its settle finds no turn',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { at: START + 10 })
      await clock.leap(10)
      const run = await pool.takeOne()
      // The put read its clock before the take did: the wall clock of the store is set back for it.
      clock.jumpWall(-5)
      assert.equal((await pool.put('a', { at: START + 90, onConflict: 'replace' })).result, 'replaced')
      clock.jumpWall(5)
      const answer = await pool.settle(run, { kind: 'done' })
      assert.deepEqual(answer, { result: 'gone', nextDueAt: START + 90 })
      assert.equal((await pool.get('a')).next.tally, 1)
    },
  },
  {
    title: '[P3] of two settles of one run the first counts, also within one call',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.putAll([asPut('a'), asPut('b')])
      const settlements = (await pool.take()).map(({ key, slot, turn, seen }) => {
        return { key, slot, turn, seen, outcome: { kind: 'again', dueAt: START + 9 } as const }
      })
      const answers = await pool.settleAll([...settlements, ...settlements])
      assert.deepEqual(
        answers.map(({ result, nextDueAt }) => [result, nextDueAt]),
        [
          ['settled', START + 9],
          ['settled', START + 9],
          ['gone', START + 9],
          ['gone', START + 9],
        ],
      )
    },
  },
]

const doneCases: Case[] = [
  {
    title: '[S2] a run that is done and left nothing is removed',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const answer = await pool.settle(await pool.takeOne(), { kind: 'done' })
      assert.deepEqual(answer, { result: 'settled', nextDueAt: null })
      assert.equal(await pool.find('a'), null)
    },
  },
  {
    title: '[V3] a tally that has grown runs again now with the rest, and the own answer is dropped',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      const run = await pool.takeOne()
      await pool.put('a', { payload: '2' })
      await pool.put('a')
      await pool.put('a', { at: START + 90, payload: '"then"' })
      await clock.leap(5)
      const answer = await pool.settle(run, { kind: 'again', dueAt: START + 50 })
      assert.deepEqual(answer, { result: 'settled', nextDueAt: START + 5 })
      const entry = await pool.get('a')
      assert.deepEqual(entry.next, { dueAt: START + 5, tally: 2, payload: '2' })
      assert.deepEqual(entry.after, { dueAt: START + 90, tally: 1, payload: '"then"' })
      assert.notEqual(entry.turn, run.turn)
    },
  },
  {
    title: '[S3] a tally that has grown runs again now with the rest when the run is done',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a')
      assert.equal((await pool.settle(run, { kind: 'done' })).nextDueAt, START)
      const rest = await pool.takeOne()
      assert.equal(rest.seen, 1)
      assert.equal((await pool.settle(rest, { kind: 'done' })).nextDueAt, null)
    },
  },
  ...(['done', 'again sooner', 'again later'] as const).map((outcome): Case => {
    return {
      title: `[S4] with a run after it, ${outcome}: the earliest is next and the other stays`,
      run: async ({ store }) => {
        const pool = await openPool(store)
        await pool.put('a', { payload: '1' })
        const run = await pool.takeOne()
        await pool.put('a', { at: START + 50, payload: '2' })
        const againAt = outcome === 'again sooner' ? START + 20 : START + 80
        await pool.settle(run, outcome === 'done' ? { kind: 'done' } : { kind: 'again', dueAt: againAt })
        const then = { dueAt: START + 50, tally: 1, payload: '2' }
        const again = { dueAt: againAt, tally: 0, payload: '1' }
        const { next, after } = await pool.get('a')
        if (outcome === 'done') assert.deepEqual([next, after], [then, null])
        else assert.deepEqual([next, after], againAt < then.dueAt ? [again, then] : [then, again])
      },
    }
  }),
  {
    title: '[S4] a run that answered its own time runs again then, with its payload and tally 0',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      await pool.settle(await pool.takeOne(), { kind: 'again', dueAt: START + 20 })
      assert.deepEqual((await pool.get('a')).next, { dueAt: START + 20, tally: 0, payload: '1' })
      await clock.leap(20)
      const run = await pool.takeOne()
      assert.deepEqual([run.seen, run.payload, run.attempt], [0, '1', 0])
      assert.equal((await pool.settle(run, { kind: 'done' })).nextDueAt, null)
    },
  },
]

const otherCases: Case[] = [
  {
    title: '[S8] a run that ends with cancel removes the entry, with what was put since and after',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a')
      await pool.put('a', { at: START + 50 })
      const answer = await pool.settle(run, { kind: 'cancel' })
      assert.deepEqual(answer, { result: 'settled', nextDueAt: null })
      assert.equal(await pool.find('a'), null)
    },
  },
  ...(['again', 'retry'] as const).map((kind): Case => {
    return {
      title: `[V8] ${kind} with a time in the past is due now, never before`,
      run: async ({ store, clock }) => {
        const pool = await openPool(store)
        await pool.put('a')
        const run = await pool.takeOne()
        await clock.leap(100)
        const answer = await pool.settle(run, { kind, dueAt: START + 1 })
        assert.deepEqual(answer, { result: 'settled', nextDueAt: START + 100 })
        assert.equal((await pool.get('a')).next.dueAt, START + 100)
      },
    }
  }),
  {
    title: '[S9] a run after it that fell due meanwhile is due now, never before',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a', { at: START + 10 })
      await clock.leap(100)
      assert.equal((await pool.settle(run, { kind: 'done' })).nextDueAt, START + 100)
      assert.equal((await pool.takeOne()).dueAt, START + 100)
    },
  },
  {
    title: '[S9] a batch settles each run by its own outcome',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 32 })
      await pool.putAll(Array.from({ length: 60 }, (_, index) => asPut(`k${index}`)))
      const runs = await pool.take()
      const answers = await pool.settleAll(
        runs.map(({ key, slot, turn, seen }, index) => {
          const outcome =
            index % 2 === 0 ? { kind: 'done' as const } : { kind: 'again' as const, dueAt: START + index }
          return { key, slot, turn, seen, outcome }
        }),
      )
      assert.deepEqual(
        answers.map(({ nextDueAt }) => nextDueAt),
        runs.map((_, index) => (index % 2 === 0 ? null : START + index)),
      )
      assert.deepEqual(await pool.settleAll([]), [])
    },
  },
]

export const settleCases: Case[] = [...goneCases, ...doneCases, ...settleFailureCases, ...otherCases]
