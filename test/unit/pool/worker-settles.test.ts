// A worker with much to do: several settles at once, none of a run twice, and pulses that do not ask for what it knows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

test('[X15] full batches of settles are under way three at once, and every run is settled once', async () => {
  const [settled, underWay] = [new Map<string, number>(), new Set<number>()]
  let [most, calls] = [0, 0]
  const { clock, pool, worker } = await openWorker(() => undefined, {
    entries: (entries) => ({
      settle: async (name, settlements, claim) => {
        const call = (calls += 1)
        underWay.add(call)
        most = Math.max(most, underWay.size)
        for (const { key } of settlements) settled.set(key, (settled.get(key) ?? 0) + 1)
        await clock.sleep(20)
        underWay.delete(call)
        return entries.settle(name, settlements, claim)
      },
    }),
  })
  await pool.putAll(Array.from({ length: 20_000 }, (_, nth) => ({ key: `k${nth}` })))
  await clock.advance(1000)
  assert.deepEqual([most, settled.size, Math.max(...settled.values())], [3, 20_000, 1])
  const { due, waiting } = await pool.count()
  assert.equal(due + waiting, 0)
  await worker.service.stop()
})

test('[D4] [X10] while runs are in flight a pulse is asked only for what is due from now on, and what else is due is swept', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, takes } = await openWorker(handler, { watch: () => () => undefined })
  const notice = (nextDueAt: number | null): void => {
    const told = { now: clock.now(), nextDueAt: new Map([['work', nextDueAt]]), controls: new Map() }
    worker.notice({ ...told, beaten: null, arrived: [], refusal: null, generation: 'first' }, clock.now())
  }
  assert.deepEqual(worker.ask(), [{ pool: 'work', partitions: [0] }])
  await pool.put('a')
  notice(START)
  await clock.advance(10)
  assert.equal(calls.length, 1)
  await clock.advance(2000)
  assert.deepEqual(worker.ask(), [{ pool: 'work', partitions: [0], from: START + 2010 }])
  // No hint came, and the pulse tells of nothing: it is found all the same.
  await pool.put('b')
  const before = takes.length
  notice(null)
  await clock.advance(10)
  assert.deepEqual([calls.length, takes.length > before], [2, true])
  calls.forEach(({ end }) => end())
  await clock.advance(10)
  assert.deepEqual(worker.ask(), [{ pool: 'work', partitions: [0] }])
  await worker.service.stop()
})

test('[X61] a run whose turn is gone, and that is given again with it, rests for longer each time, and is reported', async () => {
  let runs = 0
  const { clock, pool, worker, telemetry } = await openWorker(() => void (runs += 1), {
    entries: () => ({
      settle: async (_, settlements) => settlements.map(() => ({ result: 'gone', nextDueAt: clock.now() })),
    }),
  })
  const reported: string[] = []
  telemetry.on('run.unsettled', ({ key }) => void reported.push(key))
  await pool.put('a')
  await clock.advance(16_000)
  assert.ok(runs > 3 && runs < 15, `it ran ${runs} times`)
  assert.deepEqual(new Set(reported), new Set(['a']))
  await worker.service.stop()
})
