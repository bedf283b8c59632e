// What a worker counts as held, after all kinds of work.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { again, dead } from '../../../src/pool/answer.ts'
import { LANES, type Lane } from '../../../src/pool/entry.ts'
import { Hold } from '../../../src/pool/hold.ts'
import type { Handler } from '../../../src/pool/run.ts'
import type { Entries, TakeRequest, Taken } from '../../../src/pool/store.ts'
import { createRandom } from '../../../src/random.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

const SEEDS = 20
const KEYS = 12

const NOTHING = LANES.map(() => [0, 0, 0])

/** Gathers what workers hold, as they follow what is theirs. */
function noteHolds(t: TestContext): Set<Hold> {
  const holds = new Set<Hold>()
  const { follow } = Hold.prototype
  t.mock.method(Hold.prototype, 'follow', function noted(this: Hold) {
    holds.add(this)
    follow.call(this)
  })
  return holds
}

function countsOf(holds: Iterable<Hold>): number[][] {
  const lanes = [...holds].flatMap((hold) => hold.lanes)
  return lanes.map(({ count, inFlight, waiting }) => [count, inFlight.size, waiting.size])
}

for (let seed = 1; seed <= SEEDS; seed += 1) {
  test(`[X7] of an idle worker no lane counts anything in flight, whatever it has done: seed ${seed}`, async (t) => {
    const holds = noteHolds(t)
    const random = createRandom(seed)
    const handler: Handler = async (_run, { signal, attempt }) => {
      await opened.clock.sleep(random.below(300), signal)
      const end = random.below(8)
      if (end === 0 && attempt < 3) throw new Error('by chance')
      if (end === 1) return dead('by chance')
      return end === 2 ? again('1s') : undefined
    }
    const opened = await openWorker(handler, { mode: 'each', partitions: 2, concurrency: 4, timeout: 250 })
    const { clock, pool, worker, grant } = opened
    await pool.limit({ group: { concurrency: 2 } })
    for (let epoch = 2; epoch < 12; epoch += 1) {
      for (let nth = 0; nth < 20; nth += 1) {
        const [key, lane] = [`k${random.below(KEYS)}`, LANES[random.below(LANES.length)] as Lane]
        await pool.put(key, {
          at: clock.now() + random.below(300) - 150,
          lane,
          group: `g${Number(key.slice(1)) % 3}`,
        })
        if (random.below(4) === 0) await pool.cancel(`k${random.below(KEYS)}`)
        await clock.advance(random.below(20))
      }
      await grant(random.below(3) === 0 ? [] : [0, 1], epoch)
    }
    await grant([0, 1], 12)
    await clock.advance(120_000)
    assert.deepEqual([worker.inFlight, (await pool.count()).due, holds.size], [0, 0, 1])
    assert.deepEqual(countsOf(holds), NOTHING)
    await worker.service.stop()
  })
}

test('[X7] [X20] what is put out from behind a run, or may not start when its turn comes, is counted no more', async (t) => {
  const holds = noteHolds(t)
  const { handler, calls } = waitingHandler()
  let hides = true
  const take = async (entries: Entries, pool: string, request: TakeRequest): Promise<Taken> => {
    const taken = await entries.take(pool, request)
    return hides && request.lane === 'bulk' ? { ...taken, runs: [] } : taken
  }
  const opened = await openWorker(handler, {
    mode: 'each',
    trustMs: 5000,
    entries: (entries) => ({ take: (pool, request) => take(entries, pool, request) }),
  })
  const { clock, pool, worker, trust, ownership } = opened
  const slots = (count: number, at: number, lane: Lane) =>
    Array.from({ length: count }, (_, nth) => ({ key: 'a', at: at + nth, lane }))
  await pool.putAll([{ key: 'a' }, ...slots(20, START + 500, 'bulk'), ...slots(1100, START + 1000, 'normal')])
  await clock.advance(3000)
  // Due before the others, and found after them.
  hides = false
  await pool.put('b', { lane: 'bulk' })
  await clock.advance(100)
  const [hold] = holds
  assert.deepEqual(
    hold?.lanes.map(({ count }) => count),
    [0, 981, 21],
  )
  await clock.advance(6000)
  for (const { end } of calls) end()
  await clock.advance(100)
  assert.deepEqual([calls.length, worker.inFlight], [2, 0])
  assert.deepEqual(countsOf(holds), NOTHING)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  ownership.wake()
  await clock.advance(100)
  assert.equal(calls.length, 3)
  void worker.service.stop()
  await clock.advance(60_000)
})
