// How a member folds what arrived in users' own transactions, with the arrivals of the simulated store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { LateArrivals, LateTransaction } from '../../../src/lab/simulation/arrivals.ts'
import { type OpenRace, openRace } from '../open-race.ts'

function openFolding(): OpenRace & { arrivals: LateArrivals } {
  const opened: LateArrivals[] = []
  const parts = { faults: noFaults, mode: 'one' as const, partitions: 1, ownerOf: () => null }
  const race = openRace((store, clock) => {
    const told = { folded: () => undefined, replaced: () => undefined }
    const arrivals = new LateArrivals({ ...parts, ...told, store, clock })
    opened.push(arrivals)
    return arrivals.wrap()
  })
  return { ...race, arrivals: opened[0] as LateArrivals }
}

/** How often the key ran after 20 of these puts, each 100 ms after the other and committed at once. */
async function runsOf(options: object): Promise<number> {
  const { race, clock, arrivals } = openFolding()
  const pool = race.pool('work')
  let runs = 0
  race.work(pool, () => void (runs += 1))
  await race.start()
  await clock.advance(1000)
  for (let nth = 0; nth < 20; nth += 1) {
    const tx = new LateTransaction()
    await pool.put('a', { in: '300ms', onConflict: 'replace', ...options, tx })
    arrivals.commit(tx)
    await clock.advance(100)
  }
  await clock.advance(2000)
  await race.stop()
  return runs
}

test('[U7] puts that postpone each other make one run, though their pulse is slower than they are due', async () => {
  assert.equal(await runsOf({}), 1)
})

test('[U7] [M10] such puts do not postpone a run beyond its longest wait', async () => {
  const runs = await runsOf({ longestWait: '900ms' })
  assert.ok(runs === 2 || runs === 3, `${runs} runs`)
})
