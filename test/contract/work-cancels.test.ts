// A cancel on a member that does not work on the pool calls off the run on another, on every store.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { RunAborted, type RunContext } from '../../src/pool/run.ts'
import { startPostgres } from '../servers/postgres.ts'
import { until } from './postgres-house.ts'
import { workPlaces } from './work-places.ts'

const server = await startPostgres(15, { fsync: false })
after(() => server?.remove())
const places = workPlaces(server, { lease: '5s', partitions: 4 })

/** A pulse is sent every half second. */
const TWO_PULSES_MS = 1000
/** For the pulse, the read of what it told of and that of the entry to be answered on a busy machine. */
const ANSWERED_MS = 4000

for (const [store, { create, skip }] of Object.entries(places)) {
  void describe(`cancels on ${store}`, { skip }, () => {
    test('[X24] a cancel calls off the run on another member within two pulses, and what is put then is run', async () => {
      const place = await create()
      const [asks, works] = [await place.open('asks'), await place.open('works')]
      const started: { payload: unknown; ctx: RunContext; end(): void }[] = []
      works.work(works.pool('work'), ({ payload }, ctx) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        started.push({ payload, ctx, end: resolve })
        return promise
      })
      try {
        await asks.start()
        await works.start()
        const pool = asks.pool('work')
        await pool.put('a', { payload: 1 })
        await until('it runs', () => started.length === 1)
        const signal = (started[0] as { ctx: RunContext }).ctx.signal
        const began = performance.now()
        assert.equal(await pool.cancel('a'), 'due')
        await pool.put('a', { payload: 2 })
        await until('it is called off', () => signal.aborted)
        assert.ok(performance.now() - began < TWO_PULSES_MS + ANSWERED_MS)
        assert.ok(signal.reason instanceof RunAborted && signal.reason.why === 'cancel')
        started[0]?.end()
        await until('what was put then runs', () => started.length === 2)
        assert.deepEqual([started[1]?.payload, started[1]?.ctx.signal.aborted], [2, false])
        started[1]?.end()
        await until('it is done', async () => (await pool.get('a')) === null)
        assert.deepEqual([started.length, started[1]?.ctx.signal.aborted], [2, false])
      } finally {
        for (const race of [asks, works]) await race.stop()
        await place.close()
      }
    })
  })
}
