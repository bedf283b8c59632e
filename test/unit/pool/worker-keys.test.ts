// Many runs of one key: they go on behind each other without a take for each, and others have their turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupLimits } from '../../../src/pool/group-limits.ts'
import { Hold } from '../../../src/pool/hold.ts'
import { Steps } from '../../../src/pool/steps.ts'
import { StoreTime } from '../../../src/store-time.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

const slots = (count: number, key = 'a', from = START): { key: string; at: number }[] =>
  Array.from({ length: count }, (_, n) => ({ key, at: from - count + n }))

test('[X20] 20,000 slots of one key run in order, with few takes that read each of them a few times', async () => {
  const seen: number[] = []
  let read = 0
  const { clock, pool, worker, takes } = await openWorker((run) => void seen.push(Number(run.at)), {
    mode: 'each',
    entries: (entries) => ({
      take: async (name, request) => {
        const taken = await entries.take(name, request)
        read += taken.runs.length
        return taken
      },
    }),
  })
  await pool.putAll(slots(20_000))
  while (seen.length < 20_000 && clock.now() < START + 600_000) await clock.advance(500)
  assert.equal(seen.length, 20_000)
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  )
  assert.ok(takes.length < 2000, `${takes.length} takes`)
  assert.ok(read < 20 * 20_000 * 2, `${read} runs were read`)
  assert.ok(takes.every(({ limit }) => limit <= 30_000))
  await worker.service.stop()
})

test('[V11] [X8] runs for which there was no room are found when their key is free, though they are old by then', async () => {
  let done = 0
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const { clock, pool, worker } = await openWorker(
    ({ key }) => {
      done += 1
      return key === 'a' && done === 1 ? promise : undefined
    },
    { mode: 'each' },
  )
  await pool.putAll(slots(1003))
  for (let nth = 1; nth <= 5; nth += 1) {
    await clock.advance(20_000)
    await pool.put(`other ${nth}`)
  }
  await clock.advance(10)
  assert.equal(done, 6)
  resolve(undefined)
  await clock.advance(5000)
  assert.deepEqual([done, (await pool.count()).due], [1008, 0])
  await worker.service.stop()
})

test('[X20] a key with a backlog does not keep others from starting, whatever their names', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { mode: 'each', concurrency: 3 })
  await pool.putAll(slots(30_000, 'm'))
  await pool.put('b')
  await clock.advance(5)
  await pool.put('z')
  await clock.advance(1000)
  assert.deepEqual(calls.map(({ run }) => run.key).toSorted(), ['b', 'm', 'z'])
  calls.forEach(({ end }) => end())
  await clock.advance(5)
  assert.equal(calls[3]?.run.key, 'm')
  void worker.service.stop()
  await clock.advance(40_000)
})

/** Starts and settles what a hold was given, one run after another that takes so long; answers their keys. */
async function drain(
  given: { key: string; at: number }[],
  tookMs: number,
  before: (hold: Hold) => void = () => undefined,
): Promise<string> {
  const { clock, pool, worker, ownership, store, telemetry, meter } = await openWorker(() => undefined, {
    mode: 'each',
    held: [],
  })
  await worker.service.stop()
  await pool.putAll(given)
  await clock.advance(10)
  const fence = { partition: 0, epoch: 1 }
  const [told] = meter.pools()
  assert.ok(told !== undefined)
  const steps = new Steps({ pool: 'work', clock, telemetry, meter: told })
  ownership.follow([{ ...fence, resource: 'pool/work', owner: 'me', next: null, since: 0, moves: 0 }])
  ownership.raised([fence], [{ ...fence, raised: true, suspects: 0 }])
  const groups = new GroupLimits({ mono: () => clock.mono(), lookBack: () => undefined })
  const hold = new Hold({ ownership, time: new StoreTime(clock), steps, groups })
  const lane = hold.of('normal')
  const request = { partitions: [0], lane: 'normal', from: 0, limit: 1000 } as const
  const claim = { owner: 'me', held: [fence] }
  hold.admit(lane, await store.pool.entries.take('work', request), { claim, from: 0, limit: 1000 })
  before(hold)
  const keys: string[] = []
  for (let flight = hold.next(); flight !== null; flight = hold.next()) {
    keys.push(flight.taken.key)
    steps.started(flight)
    await clock.advance(tookMs)
    hold.settled(flight, { result: 'settled', nextDueAt: null })
  }
  return keys.join('')
}

test('[X21] a key has ten runs in a row, then those have their turn that wait beside it', async () => {
  const given = [...slots(35), ...slots(12, 'b', START + 1), ...slots(1, 'c', START + 2)]
  const keys = await drain(given, 1)
  assert.equal(keys.replaceAll('aaaaaaaaaa', 'A').replaceAll('bbbbbbbbbb', 'B'), 'ABcAbbAaaaaa')
})

test('[X21] after one second of slow runs of a key it is the turn of others', async () => {
  const given = [...slots(8), ...slots(1, 'b', START + 1), ...slots(1, 'c', START + 2)]
  assert.equal(await drain(given, 400), 'aaabcaaaaa')
})

test('[X21] after a run that never started the next of its key has no row to go on with', async () => {
  const given = [...slots(8), ...slots(1, 'b', START + 1), ...slots(1, 'c', START + 2)]
  const cancelFirst = (hold: Hold): void =>
    void hold.cancel('a', new Set(hold.inFlight.ofKey('a').slice(0, 1)))
  assert.equal(await drain(given, 400, cancelFirst), 'bcaaaaaaa')
})

test('[X20] what waits behind a run is dropped when its epoch is lost, and taken anew under the next', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, grant } = await openWorker(handler, { mode: 'each' })
  await pool.putAll(slots(3))
  await clock.advance(100)
  await grant([], 1)
  calls[0]?.fail(calls[0].ctx.signal.reason)
  await clock.advance(100)
  assert.equal(calls.length, 1)
  await grant([0], 2)
  for (const nth of [1, 2, 3]) {
    await clock.advance(100)
    assert.deepEqual([calls.length, calls[nth]?.ctx.fence.epoch], [nth + 1, 2])
    calls[nth]?.end()
  }
  await clock.advance(100)
  assert.deepEqual([calls.length, (await pool.count()).due], [4, 0])
  await worker.service.stop()
})

test('[X17] [X20] a stop starts nothing of what waits behind a run', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, ownership } = await openWorker(handler, { mode: 'each' })
  await pool.putAll(slots(3))
  await clock.advance(100)
  const stopping = worker.service.stop()
  await clock.advance(100)
  calls[0]?.end()
  await clock.advance(100)
  await stopping
  await ownership.idle([0], 0)
  assert.deepEqual([calls.length, (await pool.count()).due, clock.pending], [1, 2, 0])
})

test('[X20] a run that is tried again does not keep the later slots of its key from running meanwhile', async () => {
  const runs: string[] = []
  const { clock, pool, worker } = await openWorker(
    ({ at }, { attempt }) => {
      runs.push(`${START - Number(at)}/${attempt}`)
      if (START - Number(at) === 3 && attempt === 1) throw new Error('no')
    },
    { mode: 'each' },
  )
  await pool.putAll(slots(3))
  await clock.advance(5000)
  assert.deepEqual(runs, ['3/1', '2/1', '1/1', '3/2'])
  await worker.service.stop()
})
