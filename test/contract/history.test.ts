// The promises hold in the history of random operations, seen from outside, on every store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../src/fault.ts'
import type { Entry } from '../../src/pool/entry.ts'
import type { Store } from '../../src/store.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { checkHistory } from '../../src/testing/check-history.ts'
import { History } from '../../src/testing/history.ts'
import { createOperations } from '../../src/testing/operations.ts'
import { MANY } from '../../src/testing/pool-driver.ts'
import { createRandom } from '../../src/random.ts'
import { Side } from '../../src/testing/side.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from './open-sqlite.ts'

/** Plays 300 operations, and answers what the checker finds in their history. */
async function playSeed(seed: number, open: (clock: VirtualClock) => Promise<Store>): Promise<string[]> {
  const clock = new VirtualClock(seed)
  const choose = createOperations(createRandom(seed))
  const history = new History(clock)
  const store = history.wrap(await open(clock))
  const side = await Side.open({ open: async () => store, run: `run-${seed}`, durable: false })
  for (let nth = 0; nth < 300; nth += 1) {
    const operation = choose(clock.now())
    if (operation.kind === 'advance') await clock.leap(operation.ms)
    await side.play(operation)
  }
  const entries = new Map<string, Entry[]>()
  for (const name of ['work', 'ticks', 'solo'].map((kind) => `${kind}-run-${seed}`)) {
    entries.set(name, (await store.pool.browse.list(name, { limit: MANY })).entries)
  }
  assert.ok(history.records.length > 200)
  await store.close()
  return checkHistory(history.records, { entries }).map((violation) => `seed ${seed}: ${violation}`)
}

test('[P1] [P2] [P3] [P4] hold in the histories of 200 seeds on memory', async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const open = async (clock: VirtualClock): Promise<Store> =>
      openMemoryStore({ clock, telemetry: createTelemetry(clock.id()), faults: noFaults })
    assert.deepEqual(await playSeed(seed, open), [])
  }
})

test('[P1] [P2] [P3] [P4] hold in the histories of 20 seeds on SQLite', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const path = await quickSqliteFiles.create()
    const violations = await playSeed(seed, (clock) => quickSqliteFiles.open(path, clock))
    await quickSqliteFiles.remove(path)
    assert.deepEqual(violations, [])
  }
})
