// The contract of puts and appends in users' own transactions: rules [U1] to [U3] and [U6] of docs/spec/postgres.md. Its subjects
// have transactions of their own kinds, which a case only begins and ends.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Arrivals, Store } from '../store.ts'
import type { UserTransaction } from '../tx.ts'
import { claimOf } from './claim.ts'
import { asEvent } from './log-driver.ts'
import { type PoolDriver, asPut, openPool } from './pool-driver.ts'

export interface ArrivalsSubject {
  /** Empty, and with arrivals. */
  store: Store
  /** The store's clock. */
  now(): number
  /** Lets so much time pass on it. */
  pass(ms: number): Promise<void>
  begin(): Promise<OwnTransaction>
}

export interface OwnTransaction {
  tx: UserTransaction
  end(how: 'commit' | 'rollback'): Promise<void>
}

/** Opens a subject for a pool of this mode, with four partitions. */
export type OpenArrivals = (mode: 'one' | 'each') => Promise<ArrivalsSubject>

interface Setting extends ArrivalsSubject {
  arrivals: Arrivals
  pool: PoolDriver
  fold(): Promise<number>
  inTransaction(work: (tx: UserTransaction) => Promise<void>, end?: 'commit' | 'rollback'): Promise<void>
}

async function openSetting(open: OpenArrivals, mode: 'one' | 'each' = 'one'): Promise<Setting> {
  const subject = await open(mode)
  const { store } = subject
  const arrivals = store.arrivals as Arrivals
  const pool = await openPool(store, { mode })
  await store.log.open({ name: 'events', partitions: 2, retentionMs: null })
  const fold = async (): Promise<number> => {
    for (let folded = 0; ;) {
      const { count, more } = await arrivals.foldPuts({ pool: 'work', limit: 100, claim: pool.claim })
      folded += count
      if (!more) return folded
    }
  }
  const inTransaction: Setting['inTransaction'] = async (work, end = 'commit') => {
    const own = await subject.begin()
    await work(own.tx)
    await own.end(end)
  }
  return { ...subject, arrivals, pool, fold, inTransaction }
}

const arrivedIn = async (store: Store): Promise<readonly string[]> =>
  (await store.pulse({ beat: null, pools: [{ pool: 'work', partitions: [0, 1, 2, 3] }] })).arrived

interface ArrivalsCase {
  /** A sentence that begins with the rule it proves. */
  title: string
  run(open: OpenArrivals): Promise<void>
}

const DEBOUNCE = { onConflict: 'replace' } as const

/** Puts that were made one after the other, of which each replaces the one before. */
const debounceCases: ArrivalsCase[] = [
  {
    title:
      '[U6] a put that is due by the time of the fold is replaced by one that was made before it was due',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction, now, pass } = await openSetting(open)
      const at = now() + 60_000
      await inTransaction((tx) =>
        arrivals.put(tx, 'work', [
          asPut('a', { inMs: 20, payload: '1', lane: 'bulk', group: 'g' }),
          asPut('a', { inMs: 30, payload: '2', ...DEBOUNCE }),
          asPut('a', { at, ...DEBOUNCE }),
          asPut('b', { inMs: 20, payload: '1', ...DEBOUNCE }),
          asPut('b', { inMs: 30, payload: '2', ...DEBOUNCE }),
        ]),
      )
      await pass(40)
      assert.equal(await fold(), 5)
      const { next, after, lane, group } = await pool.get('a')
      assert.deepEqual(
        [next, after, lane, group],
        [{ dueAt: at, tally: 1, payload: null }, null, 'bulk', 'g'],
      )
      const { key, seen, payload } = await pool.takeOne()
      assert.deepEqual({ key, seen, payload }, { key: 'b', seen: 1, payload: '2' })
    },
  },
  {
    title: '[U6] a put that was due when the next was made is a run of its own',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction, now, pass } = await openSetting(open)
      const at = now() + 60_000
      await inTransaction(async (tx) => {
        await arrivals.put(tx, 'work', [asPut('a', { inMs: 20, payload: '1', ...DEBOUNCE })])
        await pass(40)
        await arrivals.put(tx, 'work', [asPut('a', { at, payload: '2', ...DEBOUNCE })])
        await arrivals.put(tx, 'work', [asPut('b', { payload: '1', ...DEBOUNCE })])
        await arrivals.put(tx, 'work', [asPut('b', { at, payload: '2', ...DEBOUNCE })])
      })
      assert.equal(await fold(), 4)
      for (const key of ['a', 'b']) {
        const { next, after } = await pool.get(key)
        assert.deepEqual([next.payload, after], ['1', { dueAt: at, tally: 1, payload: '2' }])
      }
    },
  },
  {
    title: '[U6] [M10] the longest wait counts from when the first put that names one was made',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction, now, pass } = await openSetting(open)
      const put = (longestWaitMs: number) =>
        inTransaction((tx) =>
          arrivals.put(tx, 'work', [asPut('a', { inMs: 60_000, longestWaitMs, ...DEBOUNCE })]),
        )
      const before = now()
      await put(90_000)
      const after = now()
      await pass(20)
      await put(60_010)
      await fold()
      const { next } = await pool.get('a')
      const since = next.since ?? 0
      assert.ok(since >= before && since <= after)
      assert.equal(next.dueAt, since + 60_010)
      await put(10)
      await fold()
      assert.equal((await pool.takeOne()).key, 'a')
    },
  },
  {
    title: '[U7] a fold answers when the runs are due that a later put may postpone',
    run: async (open) => {
      const { arrivals, pool, inTransaction, now } = await openSetting(open)
      const at = now() + 60_000
      const puts = [
        asPut('a', { at, ...DEBOUNCE }),
        asPut('b', { at: at + 1 }),
        asPut('c', DEBOUNCE),
        asPut('d', { at: at + 2, ...DEBOUNCE }),
      ]
      await inTransaction((tx) => arrivals.put(tx, 'work', puts))
      const { postponable } = await arrivals.foldPuts({ pool: 'work', limit: 100, claim: pool.claim })
      assert.deepEqual(new Set(postponable), new Set([at, at + 2]))
    },
  },
]

const cases: ArrivalsCase[] = [
  {
    title: '[U1] an open transaction makes nobody wait, and is not seen before its commit',
    run: async (open) => {
      const { store, arrivals, pool, fold, inTransaction, now } = await openSetting(open)
      const at = now() + 60_000
      await inTransaction(async (tx) => {
        await arrivals.put(tx, 'work', [asPut('a', { at })])
        await arrivals.append(tx, 'events', [asEvent('e', 0)])
        assert.equal((await pool.put('a', { at })).result, 'created')
        assert.equal((await store.log.append('events', [asEvent('f', 0)]))[0]?.offset, 0)
        assert.deepEqual([await fold(), await arrivals.foldEvents('events', 100)], [0, 0])
        assert.deepEqual(await arrivedIn(store), [])
      })
      assert.deepEqual([await fold(), await arrivals.foldEvents('events', 100)], [1, 1])
      assert.equal((await pool.get('a')).next.tally, 2)
    },
  },
  {
    title: '[U1] what is rolled back never was',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction } = await openSetting(open)
      await inTransaction((tx) => arrivals.put(tx, 'work', [asPut('a')]), 'rollback')
      assert.equal(await fold(), 0)
      assert.deepEqual(await pool.list(), [])
    },
  },
  {
    title: '[U2] puts of one key are folded once each, in order and by their rules',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction, now } = await openSetting(open)
      const at = now() + 60_000
      await inTransaction((tx) =>
        arrivals.put(tx, 'work', [
          asPut('a', { at: at + 9, payload: '1', lane: 'bulk', group: 'g' }),
          asPut('a', { at, payload: '2' }),
          asPut('b'),
          asPut('a', { at: at + 5, payload: '3', onConflict: 'replace' }),
          asPut('a', { at, payload: '4', onConflict: 'keep' }),
        ]),
      )
      assert.equal(await fold(), 5)
      assert.equal(await fold(), 0)
      const { next, lane, group } = await pool.get('a')
      assert.deepEqual([next, lane, group], [{ dueAt: at + 5, tally: 1, payload: '3' }, 'bulk', 'g'])
      assert.equal((await pool.takeOne()).key, 'b')
    },
  },
  {
    title: '[M17] a put with `in` counts from the statement that inserts it, by the clock of the store',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction, now } = await openSetting(open, 'each')
      const before = now()
      await inTransaction((tx) => arrivals.put(tx, 'work', [asPut('a', { inMs: 60_000 })]))
      const after = now()
      await fold()
      const [entry] = await pool.list()
      assert.ok(entry !== undefined && entry.slot === entry.next.dueAt)
      assert.ok(entry.next.dueAt >= before + 60_000 && entry.next.dueAt <= after + 60_000)
    },
  },
  {
    title: '[U2] in mode each every slot is an entry, and a repeated one is kept',
    run: async (open) => {
      const { arrivals, pool, fold, inTransaction, now } = await openSetting(open, 'each')
      const at = now() + 60_000
      const puts = [asPut('a', { at }), asPut('a', { at: at + 1 }), asPut('a', { at }), asPut('a')]
      await inTransaction((tx) => arrivals.put(tx, 'work', puts))
      assert.equal(await fold(), 4)
      assert.equal((await pool.list()).length, 3)
    },
  },
  {
    title: '[U2] a fold under a claim that is not the fence folds nothing, and says so',
    run: async (open) => {
      const { store, arrivals, pool, inTransaction } = await openSetting(open)
      await inTransaction((tx) => arrivals.put(tx, 'work', [asPut('a')]))
      const request = { pool: 'work', limit: 100, claim: claimOf(4, 'stale', 1) }
      assert.deepEqual(await arrivals.foldPuts(request), {
        count: 0,
        more: false,
        postponable: [],
        refused: [0, 1, 2, 3],
      })
      assert.deepEqual(await pool.list(), [])
      assert.deepEqual(await arrivedIn(store), ['pool/work'])
    },
  },
  {
    title: '[U2] folds of many processes at once fold each arrival once, events in their order',
    run: async (open) => {
      const { store, arrivals, pool, inTransaction, now } = await openSetting(open)
      const at = now() + 60_000
      await inTransaction(async (tx) => {
        await arrivals.put(
          tx,
          'work',
          Array.from({ length: 200 }, (_, nth) => asPut(`k${nth % 50}`, { at })),
        )
        await arrivals.append(
          tx,
          'events',
          Array.from({ length: 200 }, (_, nth) => asEvent(`e${nth}`, 1)),
        )
      })
      const folds = Array.from({ length: 8 }, async () => {
        while ((await arrivals.foldPuts({ pool: 'work', limit: 100, claim: pool.claim })).more);
        while ((await arrivals.foldEvents('events', 30)) > 0);
      })
      await Promise.all(folds)
      assert.deepEqual(new Set((await pool.list()).map(({ next }) => next.tally)), new Set([4]))
      const request = { from: [{ partition: 1, offset: 0 }], limit: 1000, maxBytes: Infinity }
      const { events } = await store.log.read('events', request)
      assert.deepEqual(
        events.map(({ id }) => id),
        Array.from({ length: 200 }, (_, nth) => `e${nth}`),
      )
    },
  },
  {
    title: '[U3] the pulse tells where arrivals wait, until they are folded',
    run: async (open) => {
      const { store, arrivals, fold, inTransaction } = await openSetting(open)
      await inTransaction(async (tx) => {
        await arrivals.put(tx, 'work', [asPut('a')])
        await arrivals.append(tx, 'events', [asEvent('e', 0)])
      })
      assert.deepEqual(await arrivedIn(store), ['pool/work', 'topic/events'])
      await fold()
      await arrivals.foldEvents('events', 100)
      assert.deepEqual(await arrivedIn(store), [])
    },
  },
]

export function arrivalsContract(
  suite: string,
  open: OpenArrivals,
  { skip }: { skip: string | false },
): void {
  void describe(`${suite}: arrivals`, { skip }, () => {
    for (const { title, run } of [...cases, ...debounceCases]) void test(title, () => run(open))
  })
}
