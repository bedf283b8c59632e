// Traps of the protocol that a worker must not fall into, on every store: see docs/spec/work.md. Those of a take-over and of
// long runs on a virtual clock, which the store reads, too.
import assert from 'node:assert/strict'
import { type TestContext, after, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Lane, TakenRun } from '../../src/pool/entry.ts'
import type { Pool } from '../../src/pool/pool.ts'
import type { Run } from '../../src/pool/run.ts'
import type { Store } from '../../src/store.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import type { OpenSubject } from '../../src/testing/contract.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { startPostgres } from '../servers/postgres.ts'
import { none, underAnother } from '../unit/pool/open-taken-over.ts'
import { type OpenWorker, openWorker, waitingHandler } from '../unit/pool/open-worker.ts'
import { postgresPlaces } from './open-postgres.ts'
import { openSqlite } from './open-sqlite.ts'
import { until } from './postgres-house.ts'
import { type WorkPlace, workPlaces } from './work-places.ts'

const server = await startPostgres(15, { fsync: false })
after(() => server?.remove())
const places = workPlaces(server, { lease: '10s', partitions: 4 })
const schemas = server === null ? null : postgresPlaces(server)
after(() => schemas?.close())
const subjects: Record<string, OpenSubject | undefined> = {
  memory: async (clock) => {
    const store = openMemoryStore({ clock, telemetry: createTelemetry(clock.id()), faults: noFaults })
    return { store, close: () => store.close() }
  },
  sqlite: openSqlite,
  postgres: schemas?.openSubject,
}

interface Call {
  run: Run
  end(): void
}

interface Working {
  pool: Pool
  calls: Call[]
  /** Waits until two takes have met these runs: what the first could start has started by the second. */
  untilMet(isMeant: (run: TakenRun) => boolean, count: number): Promise<void>
  stop(): Promise<void>
}

/** A member that works on a pool, with runs that a test ends. */
async function working(place: WorkPlace, settings: { name: string; mode: 'one' | 'each' }): Promise<Working> {
  const opened = await place.create()
  const race = await opened.open('m1')
  const { entries } = race.store.pool
  const take = entries.take.bind(entries)
  const answers: TakenRun[][] = []
  entries.take = async (...asked) => {
    const taken = await take(...asked)
    answers.push(taken.runs)
    return taken
  }
  const pool = race.pool(settings.name, { mode: settings.mode })
  const calls: Call[] = []
  race.work(pool, (run) => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    calls.push({ run, end: () => resolve(undefined) })
    return promise
  })
  await race.start()
  const stop = async (): Promise<void> => {
    for (const { end } of calls) end()
    await race.stop()
    await opened.close()
  }
  const untilMet: Working['untilMet'] = async (isMeant, count) => {
    const since = answers.length
    const haveMet = (): boolean =>
      answers.slice(since).filter((runs) => runs.filter(isMeant).length === count).length >= 2
    await until('takes have met it', haveMet)
  }
  return { pool, calls, untilMet, stop }
}

for (const [store, place] of Object.entries(places)) {
  void describe(`traps of work on ${store}`, { skip: place.skip }, () => {
    test('[X2] [V4] a key that was cancelled and put anew runs again only when its first run has ended', async () => {
      const { pool, calls, untilMet, stop } = await working(place, { name: 'v4', mode: 'one' })
      const count = (atLeast: number) => () => Promise.resolve(calls.length >= atLeast)
      try {
        await pool.put('a', { payload: 1 })
        await until('it runs', count(1))
        assert.equal(await pool.cancel('a'), 'due')
        await pool.put('a', { payload: 2 })
        await untilMet(({ payload }) => payload === '2', 1)
        assert.equal(calls.length, 1)
        calls[0]?.end()
        await until('it runs again', count(2))
        assert.deepEqual(calls[1]?.run.payload, 2)
        calls[1]?.end()
        await until('all is done', async () => (await pool.get('a')) === null)
      } finally {
        await stop()
      }
    })

    test('[X8] [V11] slots that fall due while one of their key runs are not forgotten, and run in due order', async () => {
      const { pool, calls, untilMet, stop } = await working(place, { name: 'v11', mode: 'each' })
      const now = systemClock.now()
      const slots = [0, 300, 100, 200].map((ms) => now + ms)
      try {
        // In one put, so that no take meets a later one without the earlier ones.
        await pool.putAll(slots.map((at) => ({ key: 'a', at })))
        await untilMet(({ key }) => key === 'a', slots.length)
        for (const [nth, at] of slots.toSorted((a, b) => a - b).entries()) {
          await until('the next runs', () => Promise.resolve(calls.length > nth))
          assert.deepEqual([calls.length, Number(calls[nth]?.run.at)], [nth + 1, at])
          calls[nth]?.end()
        }
        await until('all is done', async () => (await pool.count()).due === 0)
      } finally {
        await stop()
      }
    })
  })
}

/** Opens a store for a worker, which is closed at the end of the test. */
function opening(t: TestContext, open: OpenSubject | undefined): (clock: VirtualClock) => Promise<Store> {
  return async (clock) => {
    assert.ok(open !== undefined)
    const { store, close } = await open(clock)
    t.after(close)
    return store
  }
}

/** Waits until something is so, while the clock goes on: calls of the store take real time. */
function reach({ clock }: OpenWorker, what: string, isSo: () => boolean): Promise<void> {
  return until(what, async () => {
    await clock.advance(1)
    return isSo()
  })
}

for (const [store, subject] of Object.entries(subjects)) {
  void describe(`traps of work on ${store}, on a virtual clock`, { skip: subject === undefined }, () => {
    test('[X8] [V10] a run that was let go in doubt runs again, though it is older than a sweep looks back', async (t) => {
      const { handler, calls } = waitingHandler()
      const opened = await openWorker(handler, { trustMs: 60_000, open: opening(t, subject) })
      const { clock, pool, worker, trust, ownership } = opened
      await pool.put('a')
      await reach(opened, 'it runs', () => calls.length === 1)
      for (const [nth, key] of ['b', 'c'].entries()) {
        await clock.advance(20_000)
        await pool.put(key)
        await reach(opened, 'another runs', () => calls.length === nth + 2)
        calls[nth + 1]?.end()
        await reach(opened, 'and is done', () => worker.inFlight === 1)
      }
      await clock.advance(20_000)
      calls[0]?.fail(calls[0].ctx.signal.reason)
      await reach(opened, 'it is let go', () => worker.inFlight === 0)
      trust.renew({ mono: clock.mono(), wall: clock.now() })
      ownership.wake()
      await reach(opened, 'it runs again', () => calls.length === 4)
      assert.deepEqual([calls[3]?.run.key, calls[3]?.ctx.attempt], ['a', 1])
      calls[3]?.end()
      await reach(opened, 'it is done', () => worker.inFlight === 0)
      await worker.service.stop()
    })

    test('[X44] [V18] after a take-over the first runs of each lane are suspects, however many there are of another', async (t) => {
      const keys = { ...none(20), poison: 0 }
      const lane = (key: string): Lane => (key === 'poison' ? 'bulk' : 'fanout')
      let done = 0
      const opened = await underAnother(() => void (done += 1), keys, {
        lane,
        concurrency: 1,
        open: opening(t, subject),
      })
      const { grant, marks, worker } = opened
      await grant([0], 3)
      await reach(opened, 'all is done', () => done === 21 && worker.inFlight === 0)
      assert.equal(marks.length, 5)
      assert.ok(marks.some(({ key }) => key === 'poison'))
      await worker.service.stop()
    })
  })
}
