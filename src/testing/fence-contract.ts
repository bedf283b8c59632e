// What every store must do with fences: rules [F1] to [F4] of docs/spec/roster.md.
import assert from 'node:assert/strict'
import { poolResource } from '../fence.ts'
import { partitionOf } from '../partition.ts'
import { claimOf } from './claim.ts'
import { type Case, type OpenSubject, registerCases } from './contract.ts'
import { MANY, asPut, openPool } from './pool-driver.ts'
import { openTicks } from './ticks-driver.ts'
import { START } from './virtual-clock.ts'

const RESOURCE = 'pool/work'

const one = (owner: string, epoch: number, partition = 0): ReturnType<typeof claimOf> => ({
  owner,
  held: [{ partition, epoch }],
})

const raiseCases: Case[] = [
  {
    title: '[F1] a fence is raised by a higher epoch, and again by the same pair',
    run: async ({ store, clock }) => {
      const { fences } = store
      assert.deepEqual(await fences.raise(RESOURCE, one('a', 1)), [{ partition: 0, raised: true, epoch: 1 }])
      await clock.leap(5)
      assert.deepEqual(await fences.raise(RESOURCE, one('a', 1)), [{ partition: 0, raised: true, epoch: 1 }])
      assert.deepEqual(await fences.raise(RESOURCE, one('b', 3)), [{ partition: 0, raised: true, epoch: 3 }])
      assert.deepEqual(await fences.fences(RESOURCE), [
        { partition: 0, epoch: 3, owner: 'b', raisedAt: START + 5 },
      ])
    },
  },
  {
    title: '[F1] a raise below, or beside another owner, changes nothing and names the epoch that stands',
    run: async ({ store }) => {
      const { fences } = store
      await fences.raise(RESOURCE, one('a', 5))
      for (const [owner, epoch] of [
        ['b', 4],
        ['b', 5],
        ['a', 4],
      ] as const) {
        const answer = await fences.raise(RESOURCE, one(owner, epoch))
        assert.deepEqual(answer, [{ partition: 0, raised: false, epoch: 5 }])
      }
      assert.deepEqual(await fences.fences(RESOURCE), [
        { partition: 0, epoch: 5, owner: 'a', raisedAt: START },
      ])
    },
  },
  {
    title: '[F1] fences of several partitions and resources stand for themselves',
    run: async ({ store }) => {
      const { fences } = store
      await fences.raise(RESOURCE, one('a', 2, 1))
      const answers = await fences.raise(RESOURCE, claimOf(3, 'b', 2))
      assert.deepEqual(
        answers.map(({ partition, raised }) => [partition, raised]),
        [
          [0, true],
          [1, false],
          [2, true],
        ],
      )
      assert.deepEqual(await fences.fences('pool/other'), [])
    },
  },
  {
    title: '[F1] of many raises to one epoch at once, one succeeds',
    run: async ({ store }) => {
      const owners = Array.from({ length: 8 }, (_, nth) => `m${nth}`)
      const answers = await Promise.all(owners.map((owner) => store.fences.raise(RESOURCE, one(owner, 7))))
      assert.equal(answers.flat().filter(({ raised }) => raised).length, 1)
    },
  },
]

const writeCases: Case[] = [
  {
    title: '[F2] [P5] a settle of an earlier epoch, of another owner, or without a fence changes nothing',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 1 })
      await pool.put('a')
      const run = await pool.takeOne()
      await store.fences.raise(poolResource('work'), one('new', 2))
      const settlement = { ...run, outcome: { kind: 'done' } as const }
      for (const claim of [
        pool.claim,
        one('old', 2),
        one('new', 1),
        one('new', 3),
        { owner: 'new', held: [] },
      ]) {
        const answers = await pool.settleAll([settlement], claim)
        assert.deepEqual(answers, [{ result: 'refused', nextDueAt: null }])
      }
      assert.equal((await pool.list()).length, 1)
      const answers = await pool.settleAll([settlement], one('new', 2))
      assert.deepEqual(answers, [{ result: 'settled', nextDueAt: null }])
    },
  },
  {
    title: '[F2] a refused settle of a turn that is gone is told apart from one that is fenced',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 1 })
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.settle(run, { kind: 'done' })
      const [answer] = await pool.settleAll([{ ...run, outcome: { kind: 'done' } }], one('old', 9))
      assert.deepEqual(answer, { result: 'gone', nextDueAt: null })
    },
  },
  {
    title:
      '[S1] [F2] a settle of a key that was cancelled and put into another partition is gone, not refused',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 4 })
      await pool.put('a', { group: 'g0' })
      const run = await pool.takeOne()
      await pool.cancel('a')
      const groups = ['g1', 'g2', 'g3', 'g4', 'g5']
      const group = groups.find((each) => partitionOf(each, 4) !== run.partition) ?? ''
      await pool.put('a', { group })
      const held = pool.claim.held.filter(({ partition }) => partition === run.partition)
      const settlement = { ...run, outcome: { kind: 'done' } as const }
      const answers = await pool.settleAll([settlement], { ...pool.claim, held })
      assert.deepEqual(answers, [{ result: 'gone', nextDueAt: null }])
      assert.equal((await pool.get('a')).next.tally, 1)
    },
  },
  {
    title: '[F2] [P5] a move under a claim that is not the fence moves nothing, and says so',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store, { partitions: 2 })
      await pool.putAll(Array.from({ length: 20 }, (_, index) => asPut(`k${index}`, { at: START })))
      const moved = await move(MANY, claimOf(2, 'stale', 1))
      assert.deepEqual(moved, { count: 0, now: START, latenessMs: [], nextDueAt: null, refused: [0, 1] })
      assert.deepEqual(await topic.readAll(), [])
      assert.equal((await pool.list()).length, 20)
    },
  },
  {
    title: '[F3] a write over several partitions is made where the fence holds',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store, { partitions: 2 })
      const keys = Array.from({ length: 40 }, (_, index) => `k${index}`)
      await pool.putAll(keys.map((key) => asPut(key, { at: START })))
      await store.fences.raise(poolResource('ticks'), one('new', 2, 1))
      const moved = await move()
      const held = keys.filter((key) => partitionOf(key, 2) === 0)
      assert.deepEqual([moved.count, moved.refused, moved.nextDueAt], [held.length, [1], null])
      assert.deepEqual((await topic.readAll()).map(({ key }) => key).toSorted(), held.toSorted())

      const work = await openPool(store, { partitions: 2 })
      await work.putAll(keys.map((key) => asPut(key)))
      const runs = await work.take()
      await store.fences.raise(poolResource('work'), one('new', 2, 1))
      const answers = await work.settleAll(runs.map((run) => ({ ...run, outcome: { kind: 'done' } })))
      const expected = runs.map(({ partition }) => (partition === 0 ? 'settled' : 'refused'))
      assert.deepEqual(
        answers.map(({ result }) => result),
        expected,
      )
    },
  },
  {
    title: '[F3] a move looks only at the partitions that it claims, and tells their next due time',
    run: async ({ store, clock }) => {
      const { pool, move } = await openTicks(store, { partitions: 2 })
      const keyOf = (partition: number): string =>
        Array.from({ length: 99 }, (_, nth) => `k${nth}`).find(
          (key) => partitionOf(key, 2) === partition,
        ) as string
      await pool.put(keyOf(0), { at: START + 10 })
      await pool.put(keyOf(1), { at: START + 5 })
      await clock.leap(7)
      const first = await move(MANY, { owner: 'driver', held: [{ partition: 0, epoch: 1 }] })
      assert.deepEqual([first.count, first.nextDueAt], [0, START + 10])
      const second = await move(MANY, { owner: 'driver', held: [{ partition: 1, epoch: 1 }] })
      assert.deepEqual([second.count, second.nextDueAt], [1, null])
      const asked = { beat: null, pools: [{ pool: 'ticks', partitions: [0] }] }
      assert.deepEqual([...(await store.pulse(asked)).nextDueAt], [['ticks', START + 10]])
    },
  },
  {
    title: '[F4] raises and moves at once: each tick moves once, and none under a lower epoch after a raise',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store, { partitions: 1 })
      for (let epoch = 2; epoch < 30; epoch += 1) {
        const keys = Array.from({ length: 10 }, (_, index) => `k${epoch}-${index}`)
        await pool.putAll(keys.map((key) => asPut(key, { at: START })))
        const [stale, , fresh] = await Promise.all([
          move(MANY, one(`m${epoch - 1}`, epoch - 1)),
          store.fences.raise(poolResource('ticks'), one(`m${epoch}`, epoch)),
          move(MANY, one(`m${epoch}`, epoch)),
        ])
        const late = await move(MANY, one(`m${epoch - 1}`, epoch - 1))
        assert.deepEqual([late.count, late.refused], [0, [0]])
        const rest = await move(MANY, one(`m${epoch}`, epoch))
        assert.equal(stale.count + fresh.count + rest.count, 10)
      }
      assert.equal(new Set((await topic.readAll()).map(({ id }) => id)).size, 280)
    },
  },
]

export function fenceContract(suite: string, open: OpenSubject): void {
  registerCases(`${suite}: fences`, open, [...raiseCases, ...writeCases])
}
