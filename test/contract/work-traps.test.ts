// Traps of the protocol that a worker must not fall into, on every store: see docs/spec/work.md.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import type { Pool } from '../../src/pool/pool.ts'
import type { Run } from '../../src/pool/run.ts'
import { startPostgres } from '../servers/postgres.ts'
import { until } from './postgres-house.ts'
import { type WorkPlace, workPlaces } from './work-places.ts'

const server = await startPostgres(15, { fsync: false })
after(() => server?.remove())
const places = workPlaces(server, { lease: '1s', partitions: 4 })

interface Call {
  run: Run
  end(): void
}

/** A member that works on a pool, with runs that a test ends. */
async function working(
  place: WorkPlace,
  settings: { name: string; mode: 'one' | 'each' },
): Promise<{ pool: Pool; calls: Call[]; stop(): Promise<void> }> {
  const opened = await place.create()
  const race = await opened.open('m1')
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
  return { pool, calls, stop }
}

/** Longer than a sweep is apart from the next: what is to be taken has been. */
const SWEPT_MS = 1500

for (const [store, place] of Object.entries(places)) {
  void describe(`traps of work on ${store}`, { skip: place.skip }, () => {
    test('[X2] [V4] a key that was cancelled and put anew runs again only when its first run has ended', async () => {
      const { pool, calls, stop } = await working(place, { name: 'v4', mode: 'one' })
      const count = (atLeast: number) => () => Promise.resolve(calls.length >= atLeast)
      try {
        await pool.put('a', { payload: 1 })
        await until('it runs', count(1))
        assert.equal(await pool.cancel('a'), 'due')
        await pool.put('a', { payload: 2 })
        await systemClock.sleep(SWEPT_MS)
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
      const { pool, calls, stop } = await working(place, { name: 'v11', mode: 'each' })
      const now = systemClock.now()
      const slots = [0, 300, 100, 200].map((ms) => now + ms)
      try {
        for (const at of slots) await pool.put('a', { at })
        await systemClock.sleep(SWEPT_MS)
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
