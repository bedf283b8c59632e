// The arrivals of the simulated store keep the contract that those of PostgreSQL keep.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { LateArrivals, LateTransaction } from '../../../src/lab/simulation/arrivals.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { type ArrivalsSubject, arrivalsContract } from '../../../src/testing/arrivals-contract.ts'
import { asPut, openPool } from '../../../src/testing/pool-driver.ts'
import { through } from '../../../src/testing/through.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

function openArrivals(mode: 'one' | 'each', owner: () => string = () => 'driver') {
  const clock = new VirtualClock()
  const store = openMemoryStore({ clock, telemetry: createTelemetry('store'), faults: noFaults })
  const how: { late: boolean; byNext: boolean }[] = []
  const arrivals = new LateArrivals({
    store,
    clock,
    faults: noFaults,
    mode,
    partitions: 4,
    ownerOf: owner,
    folded: (told) => how.push(told),
    replaced: () => undefined,
  })
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = (_: string, call: () => Promise<unknown>): Promise<unknown> => (turn = turn.then(call))
  return { store: through(arrivals.wrap(), inTurn), clock, arrivals, how }
}

async function open(mode: 'one' | 'each'): Promise<ArrivalsSubject> {
  const { store, clock, arrivals } = openArrivals(mode)
  const begin: ArrivalsSubject['begin'] = async () => {
    const tx = new LateTransaction()
    return { tx, end: async (how) => (how === 'commit' ? arrivals.commit(tx) : undefined) }
  }
  return { store, now: () => clock.now(), pass: (ms) => clock.leap(ms), begin }
}

arrivalsContract('simulation', open, { skip: false })

test('[U2] what is folded behind a later one, or by the next owner, is told', async () => {
  const { store, arrivals, how } = openArrivals('one', () => 'former')
  const { claim } = await openPool(store)
  const [early, late] = [new LateTransaction(), new LateTransaction()]
  await arrivals.put(early, 'work', [asPut('a')])
  await arrivals.put(late, 'work', [asPut('a')])
  for (const tx of [late, early]) {
    arrivals.commit(tx)
    await store.arrivals?.foldPuts({ pool: 'work', limit: 10, claim })
  }
  assert.deepEqual(how, [
    { late: false, byNext: true },
    { late: true, byNext: true },
  ])
  assert.equal(arrivals.waiting, 0)
})
