// Plays random operations on a store, and has the history of it checked.
import assert from 'node:assert/strict'
import type { Entry } from '../../src/pool/entry.ts'
import { createRandom } from '../../src/random.ts'
import type { Store } from '../../src/store.ts'
import { checkHistory } from '../../src/testing/check-history.ts'
import { History } from '../../src/testing/history.ts'
import { createOperations } from '../../src/testing/operations.ts'
import { MANY } from '../../src/testing/pool-driver.ts'
import { Side } from '../../src/testing/side.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** Plays 300 operations, and answers what the checker finds in their history. */
export async function playSeed(
  seed: number,
  open: (clock: VirtualClock) => Promise<Store>,
): Promise<string[]> {
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
