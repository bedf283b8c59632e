// Puts that replace each other, with a longest wait, and puts due after a while: rules [M10] and [M17] of docs/spec/pool.md.
import assert from 'node:assert/strict'
import type { Clock } from '../clock.ts'
import { Gate } from '../gate.ts'
import type { PutAnswer } from '../pool/merge.ts'
import { Pool } from '../pool/pool.ts'
import type { PoolSettings } from '../pool/store.ts'
import type { Store } from '../store.ts'
import { createTelemetry } from '../telemetry.ts'
import type { Case, Subject } from './contract.ts'
import { MemberClock } from './member-clock.ts'
import { type PoolDriver, asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const KEY = 'doc-7'

/** Puts the run off to 100 ms from now, but no longer than 250 ms. */
function debounce(pool: PoolDriver, { clock }: Subject): Promise<PutAnswer> {
  return pool.put(KEY, { at: clock.now() + 100, onConflict: 'replace', longestWaitMs: 250 })
}

/** The due times, from START, of so many puts, 80 ms from each other. */
async function debounceOften(pool: PoolDriver, subject: Subject, times: number): Promise<number[]> {
  const dueAts: number[] = []
  for (let nth = 0; nth < times; nth += 1) {
    if (nth > 0) await subject.clock.leap(80)
    dueAts.push((await debounce(pool, subject)).dueAt - START)
  }
  return dueAts
}

export const debounceCases: Case[] = [
  {
    title:
      '[M10] each put puts the run off, until the longest wait since the first is over; the next run counts anew',
    run: async (subject) => {
      const pool = await openPool(subject.store)
      assert.deepEqual(await debounceOften(pool, subject, 4), [100, 180, 250, 250])
      assert.equal((await pool.get(KEY)).next.since, START)
      await subject.clock.leap(10)
      const run = await pool.takeOne()
      assert.deepEqual([run.dueAt, run.seen], [START + 250, 1])
      await pool.settle(run, { kind: 'done' })
      assert.equal((await debounce(pool, subject)).dueAt, START + 350)
    },
  },
  {
    title: '[M10] the first put is bounded too, and one for now is due now',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const bounded = { onConflict: 'replace', longestWaitMs: 250 } as const
      const answers = await pool.putAll([
        asPut('far', { at: START + 9000, ...bounded }),
        asPut('now', bounded),
        asPut('free', { at: START + 9000, onConflict: 'replace' }),
      ])
      assert.deepEqual(
        answers.map(({ dueAt }) => dueAt - START),
        [250, 0, 9000],
      )
    },
  },
  {
    title: '[M10] behind a run under way the run after it is put off so, and goes on so when it is next',
    run: async (subject) => {
      const pool = await openPool(subject.store)
      await pool.put(KEY)
      const run = await pool.takeOne()
      assert.deepEqual(await debounceOften(pool, subject, 2), [100, 180])
      assert.equal((await pool.settle(run, { kind: 'done' })).nextDueAt, START + 180)
      await subject.clock.leap(80)
      assert.equal((await debounce(pool, subject)).dueAt, START + 250)
      assert.equal((await pool.get(KEY)).next.since, START)
    },
  },
  {
    title:
      '[M10] an earliest, and a replace without a longest wait, leave the moment since when it is put off',
    run: async (subject) => {
      const pool = await openPool(subject.store)
      await debounce(pool, subject)
      await subject.clock.leap(50)
      await pool.put(KEY, { at: START + 9000 })
      await pool.put(KEY, { at: START + 9000, onConflict: 'replace' })
      assert.equal((await pool.get(KEY)).next.dueAt, START + 9000)
      await subject.clock.leap(150)
      assert.deepEqual(await debounce(pool, subject), { result: 'replaced', dueAt: START + 250, tally: 1 })
    },
  },
  {
    title:
      '[M10] a run that the handler asked for, or that was put without a longest wait, counts from the first that names one',
    run: async (subject) => {
      const pool = await openPool(subject.store)
      await pool.put(KEY)
      await pool.settle(await pool.takeOne(), { kind: 'again', dueAt: START + 9000 })
      await subject.clock.leap(70)
      assert.deepEqual(await debounceOften(pool, subject, 3), [170, 250, 320])
    },
  },
  {
    title: '[M17] puts of members whose clocks differ debounce each other by the clock of the store',
    run: async ({ store, clock }) => {
      const driver = await openPool(store)
      const members = [0, 10_000, -10_000].map((skewMs) => {
        const own = new MemberClock(clock)
        own.skewMs = skewMs
        return poolOf(store, driver.settings, own)
      })
      for (let nth = 0; nth < 8; nth += 1) {
        if (nth > 0) await clock.leap(1000)
        const { dueAt } = await (members[nth % 3] as Pool).put(KEY, { in: '2s', onConflict: 'replace' })
        assert.equal(dueAt.getTime(), START + nth * 1000 + 2000)
        assert.deepEqual(await driver.take(), [])
      }
      await clock.leap(2000)
      await driver.settle(await driver.takeOne(), { kind: 'done' })
      await clock.leap(20_000)
      assert.deepEqual(await driver.list(), [])
    },
  },
  {
    title: '[M17] in mode each the slot of a put with `in` is the time of the store and so long after it',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each' })
      await clock.leap(3)
      const answers = await pool.putAll([
        asPut('a', { inMs: 50 }),
        asPut('a', { at: START + 53 }),
        asPut('a', { inMs: 60 }),
        asPut('a', { inMs: 0 }),
      ])
      assert.deepEqual(
        answers.map(({ result, dueAt }) => [result, dueAt - START]),
        [
          ['created', 53],
          ['kept', 53],
          ['created', 63],
          ['created', 3],
        ],
      )
      assert.deepEqual(
        (await pool.list()).map(({ slot }) => (slot ?? 0) - START),
        [3, 53, 63],
      )
    },
  },
  {
    title: '[M17] a request that is made again is answered as the first was, whatever the time is then',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const request = {
        puts: [asPut('a', { inMs: 50 })],
        repeat: { id: 'r', fingerprint: 'f', keepMs: 60_000 },
      }
      const [first] = await store.pool.entries.put('work', [request])
      await clock.leap(20)
      const [again] = await store.pool.entries.put('work', [request])
      assert.deepEqual(again, { ...first, replayed: true })
      assert.deepEqual((await pool.get('a')).next, { dueAt: START + 50, tally: 1, payload: null })
    },
  },
]

/** A pool as a member has it whose clock is this one. */
function poolOf(store: Store, settings: PoolSettings, clock: Clock): Pool {
  const telemetry = createTelemetry(clock.id())
  return new Pool({ settings, store: store.pool, arrivals: null, clock, telemetry, gate: new Gate() })
}
