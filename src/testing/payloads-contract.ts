// Pools that keep every payload: rules [M14] to [M16] of docs/spec/pool.md.
import assert from 'node:assert/strict'
import { MOST_PAYLOADS } from '../pool/payloads.ts'
import type { Store } from '../store.ts'
import type { Case } from './contract.ts'
import { type PoolDriver, asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const DONE = { kind: 'done' } as const
const DEAD = { kind: 'dead', reason: 'no', error: null } as const
const REFUSED = { kind: 'refused', pool: 'work', key: 'a', most: `${MOST_PAYLOADS} payloads` }

function openAll(store: Store): Promise<PoolDriver> {
  return openPool(store, { payloads: 'all' })
}

async function seen(pool: PoolDriver): Promise<readonly string[] | undefined> {
  return (await pool.takeOne()).payloads
}

function many(key: string, count: number): ReturnType<typeof asPut>[] {
  return Array.from({ length: count }, (_, nth) => asPut(key, { payload: String(nth) }))
}

const keeping: Case[] = [
  {
    title:
      '[M14] a run sees the payloads of all its puts in their order, and those that came later at its next run',
    run: async ({ store }) => {
      const pool = await openAll(store)
      await pool.putAll([asPut('a', { payload: '1' }), asPut('a'), asPut('a', { payload: '"two"' })])
      await pool.put('a', { payload: 'null' })
      const run = await pool.takeOne()
      assert.deepEqual([run.seen, run.payload, run.payloads], [4, 'null', ['1', '"two"', 'null']])
      await pool.put('a', { payload: '5' })
      await pool.put('a', { payload: '6', at: START + 9 })
      await pool.settle(run, DONE)
      const rest = await pool.takeOne()
      assert.deepEqual([rest.seen, rest.payloads], [1, ['5']])
    },
  },
  {
    title:
      '[M14] a replace begins anew, after the run under way and before it; a kept put and a cancel add nothing',
    run: async ({ store, clock }) => {
      const pool = await openAll(store)
      await pool.put('a', { payload: '1', at: START + 9 })
      await pool.put('a', { payload: '2', at: START, onConflict: 'replace' })
      await pool.put('a', { payload: '3', onConflict: 'keep' })
      const run = await pool.takeOne()
      assert.deepEqual(run.payloads, ['2'])
      await pool.put('a', { payload: '4', at: START + 9 })
      await pool.put('a', { payload: '5', at: START + 9 })
      await pool.put('a', { payload: '6', at: START + 9, onConflict: 'replace' })
      await pool.put('a', { payload: '7', at: START + 9 })
      await pool.settle(run, DONE)
      await clock.leap(9)
      assert.deepEqual(await seen(pool), ['6', '7'])
      await pool.cancel('a')
      await pool.put('a')
      assert.deepEqual(await seen(pool), [])
    },
  },
  {
    title: '[M14] other pools tell no list, and another word about it is refused',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      assert.equal((await pool.takeOne()).payloads, undefined)
      await assert.rejects(openAll(store), { code: 'pool_mismatch', message: /payloads/ })
      await openPool(store, { name: 'all', payloads: 'all' })
      const again = await openPool(store, { name: 'all' })
      await again.put('a', { payload: '1' })
      assert.deepEqual(await seen(again), ['1'])
    },
  },
]

const settling: Case[] = [
  {
    title: '[M15] a retry keeps what was seen, and adds what came since; again leaves none',
    run: async ({ store, clock }) => {
      const pool = await openAll(store)
      await pool.put('a', { payload: '1' })
      const run = await pool.takeOne()
      await pool.put('a', { payload: '2' })
      await pool.settle(run, { kind: 'retry', dueAt: START + 5 })
      await clock.leap(5)
      const again = await pool.takeOne()
      assert.deepEqual(again.payloads, ['1', '2'])
      await pool.put('a', { payload: '3', at: START + 50 })
      await pool.settle(again, { kind: 'again', dueAt: START + 6 })
      await clock.leap(1)
      const own = await pool.takeOne()
      assert.deepEqual([own.seen, own.payload, own.payloads], [0, '2', []])
      await pool.settle(own, { kind: 'again', dueAt: START + 60 })
      await clock.leap(44)
      assert.deepEqual(await seen(pool), ['3'])
    },
  },
  {
    title:
      '[M15] what died is recorded with what it saw, a redriven run sees that again, and a put begins anew',
    run: async ({ store }) => {
      const pool = await openAll(store)
      await pool.putAll([asPut('a', { payload: '1' }), asPut('a', { payload: '2' })])
      const run = await pool.takeOne()
      await pool.put('a', { payload: '3' })
      await pool.settle(run, DEAD)
      assert.deepEqual((await pool.deaths())[0]?.payloads, ['1', '2'])
      await pool.settle(await pool.takeOne(), DEAD)
      assert.deepEqual((await pool.deaths())[0]?.payloads, ['3'])
      const ids = (await pool.dead.list('work', { limit: 9 })).map(({ id }) => id)
      const kept = await pool.dead.payloads('work', ids)
      assert.deepEqual(
        ids.map((id) => kept.get(id)?.payloads),
        [['3'], ['1', '2']],
      )
      await pool.dead.redrive('work', ids)
      const redriven = await pool.takeOne()
      assert.deepEqual(redriven.payloads, ['3'])
      await pool.settle(redriven, DEAD)
      await pool.put('a', { payload: '4' })
      assert.deepEqual(await seen(pool), ['4'])
    },
  },
]

const limits: Case[] = [
  {
    title:
      '[M16] the put that would add one payload too many is refused with its whole request, and others are done',
    run: async ({ store }) => {
      const pool = await openAll(store)
      for (let nth = 1; nth < MOST_PAYLOADS; nth += 37) await pool.putAll(many('a', 37))
      const puts = [asPut('b', { payload: '1' }), ...many('a', 2)]
      const other = { puts: [asPut('c')], repeat: null }
      const responses = await pool.requests([{ puts, repeat: null }, other])
      assert.deepEqual([responses[0], responses[1]?.kind], [REFUSED, 'answered'])
      assert.deepEqual([await pool.find('b'), (await pool.get('a')).next.tally], [null, MOST_PAYLOADS - 1])
      assert.equal((await pool.put('a', { payload: '"last"' })).tally, MOST_PAYLOADS)
      assert.deepEqual(await pool.request([asPut('a', { payload: '1' })], null), REFUSED)
      assert.equal((await pool.put('a')).tally, MOST_PAYLOADS + 1)
      const run = (await pool.take()).find(({ key }) => key === 'a')
      assert.deepEqual([run?.payloads?.length, run?.payloads?.at(-1)], [MOST_PAYLOADS, '"last"'])
    },
  },
  {
    title: '[M16] bytes are counted, of both runs of the entry; a request that was refused may come again',
    run: async ({ store }) => {
      const pool = await openAll(store)
      const large = JSON.stringify('é'.repeat(180_000))
      await pool.put('a', { payload: large })
      await pool.put('a', { payload: large, at: START + 9 })
      const repeat = { id: 'one', fingerprint: 'x', keepMs: 1000 }
      const refused = await pool.request([asPut('a', { payload: large })], repeat)
      assert.deepEqual(refused, { ...REFUSED, most: '1 MiB of payloads' })
      await pool.settle(await pool.takeOne(), DONE)
      const answered = await pool.request([asPut('a', { payload: large })], repeat)
      assert.equal(answered.kind, 'answered')
    },
  },
  {
    title: '[M16] what is settled or cancelled beside a request that is refused stays so',
    run: async ({ store }) => {
      const pool = await openAll(store)
      const large = JSON.stringify('é'.repeat(180_000))
      await pool.putAll([asPut('b'), asPut('c')])
      const run = (await pool.take()).find(({ key }) => key === 'b')
      assert.ok(run)
      const [settled, refused, cancelled] = await Promise.all([
        pool.settle(run, DONE),
        pool.request(
          [1, 2, 3].map(() => asPut('a', { payload: large })),
          null,
        ),
        pool.cancel('c'),
      ])
      assert.deepEqual([settled.result, refused.kind, cancelled.due], ['settled', 'refused', 1])
      assert.deepEqual(await pool.list(), [])
    },
  },
]

export const payloadsCases: Case[] = [...keeping, ...settling, ...limits]
