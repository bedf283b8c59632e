// A simulated store that goes back: what is gone is forgiven, and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { Answers } from '../../../src/lab/simulation/answers.ts'
import { runSwarm } from '../../../src/lab/simulation/run.ts'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import { type Swarm, drawSwarm } from '../../../src/lab/simulation/swarm.ts'
import type { Store } from '../../../src/store.ts'
import { Snapshots } from '../../../src/stores/memory/snapshots.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { checkHistory } from '../../../src/testing/check-history.ts'
import { History } from '../../../src/testing/history.ts'
import { PoolDriver, openPool } from '../../../src/testing/pool-driver.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

function goesBack({ planned }: Swarm): boolean {
  return planned.some(({ kind }) => kind === 'go-back')
}

/** A store whose history is recorded. It goes back, and the history with it if that is told. */
function openRecorded(): {
  store: Store
  check: () => Promise<string[]>
  take: () => (isTold?: boolean) => void
} {
  const clock = new VirtualClock()
  const [snapshots, history] = [new Snapshots(), new History(clock)]
  const context = { clock, telemetry: createTelemetry('store'), faults: noFaults }
  const store = history.wrap(openMemoryStore(context, snapshots))
  return {
    store,
    check: async () => {
      const { entries } = await store.pool.browse.list('work', { limit: 100 })
      return checkHistory(history.records, { entries: new Map([['work', entries]]) })
    },
    take: () => {
      const [goBack, forget] = [snapshots.take(), history.snapshot()]
      return (isTold = true) => {
        goBack?.()
        if (isTold) forget(snapshots.least)
      }
    },
  }
}

/** The right to all partitions, raised again. */
async function regained(store: Store, { settings }: PoolDriver): Promise<PoolDriver> {
  const fences = await store.fences.fences('pool/work')
  const claim = {
    owner: 'next',
    held: fences.map(({ partition, epoch }) => ({ partition, epoch: epoch + 1 })),
  }
  await store.fences.raise('pool/work', claim)
  return new PoolDriver(store, settings, claim)
}

test('[G6] one run of ten goes back, and is repeated by its seed', async () => {
  const swarms = Array.from({ length: 2000 }, (_, seed) => drawSwarm(seed)).filter(goesBack)
  assert.ok(swarms.length > 150 && swarms.length < 250, String(swarms.length))
  const [swarm] = swarms
  assert.ok(swarm !== undefined)
  const [one, other] = [await runSwarm(swarm), await runSwarm(swarm)]
  assert.ok(one.trace.some((line) => line.includes('went back to memory 2')))
  assert.equal(one.hash, other.hash)
  assert.deepEqual(one.violations, [])
})

test('[G6] puts that are gone are forgiven if the store went back, and found if it did not say so', async () => {
  for (const isTold of [true, false]) {
    const { store, check, take } = openRecorded()
    const pool = await openPool(store)
    await pool.put('kept')
    const goBack = take()
    await pool.put('lost')
    goBack(isTold)
    const found = (await check()).join()
    assert.match(found, isTold ? /^$/ : /^\[P1\] 1 answered puts of lost are lost$/)
  }
})

test('[G6] puts of before the snapshot are expected, and a settle of an earlier turn is not', async () => {
  const { store, check, take } = openRecorded()
  const pool = await openPool(store)
  for (const key of ['kept', 'gone']) await pool.put(key)
  const run = (await pool.take()).find(({ key }) => key === 'kept')
  const goBack = take()
  await pool.cancel('gone')
  goBack()
  const next = await regained(store, pool)
  await next.put('kept')
  assert.ok(run !== undefined)
  assert.equal((await next.settle(run, { kind: 'done' })).result, 'gone')
  assert.deepEqual(await check(), [])
  for (const again of await next.take()) await next.settle(again, { kind: 'done' })
  assert.deepEqual(await check(), [])
})

test('[G6] a commit that is gone is forgiven, and one of before is expected', () => {
  const answers = new Answers({ storeClock: new VirtualClock(), races: noRaces() })
  const wish = { key: 'k', at: 1, onConflict: 'earliest' } as const
  const [before, since] = [answers.ask(wish, 'transaction'), answers.ask(wish, 'transaction')]
  answers.committed(before)
  const goBack = answers.snapshot()
  answers.committed(since)
  assert.equal(answers.judge().length, 2)
  goBack()
  assert.match(answers.judge().join(), /^\[U2\] .* was committed, and never came to the store$/)
})
