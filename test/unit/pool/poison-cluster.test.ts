// A run that ends every process that starts it, beside runs that do no harm, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeadRun } from '../../../src/pool/dead.ts'
import type { Handler } from '../../../src/pool/run.ts'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'

const INNOCENTS = 49
const TAKES_MS = 2000

interface Tally {
  done: Set<string>
  poisoned: number
}

/** A member whose process ends with the run of the poison. */
function member(cluster: Cluster, tally: Tally): Promise<ClusterMember> {
  return cluster.add({ partitions: 4 }, (self) => {
    const handler: Handler = async ({ key }, { signal }) => {
      await self.clock.sleep(key.endsWith('poison') ? TAKES_MS / 4 : TAKES_MS, signal)
      if (signal.aborted) throw new Error('aborted')
      if (!key.endsWith('poison')) return void tally.done.add(key)
      tally.poisoned += 1
      self.kill()
      await new Promise(() => undefined)
    }
    self.race.work(self.race.pool('work'), handler, { concurrency: INNOCENTS + 1 })
  })
}

const CASES = {
  'stands first': { poison: 'a-poison', lane: 'normal' },
  'stands last': { poison: 'z-poison', lane: 'normal' },
  'stands in another lane': { poison: 'z-poison', lane: 'bulk' },
} as const

for (const [where, { poison, lane }] of Object.entries(CASES)) {
  test(`[V18] [V19] a poison that ${where} is dead after three crashes, and every innocent run is done`, async () => {
    const cluster = new Cluster()
    const tally: Tally = { done: new Set(), poisoned: 0 }
    let current = await member(cluster, tally)
    const keys = Array.from({ length: INNOCENTS }, (_, nth) => ({ key: `k${nth}` }))
    await current.race.pool('work').putAll([...keys, { key: poison, lane }])
    let deaths: DeadRun[] = []
    for (let nth = 0; nth < 300 && (tally.done.size < INNOCENTS || deaths.length === 0); nth += 1) {
      await cluster.clock.advance(1000)
      if (current.isGone) current = await member(cluster, tally)
      deaths = await current.race.pool('work').dead.list()
    }
    assert.deepEqual(
      deaths.map(({ key, reason }) => [key, reason]),
      [[poison, 'crashed']],
    )
    assert.deepEqual([tally.poisoned, tally.done.size], [3, INNOCENTS])
    await cluster.clock.advance(100)
    assert.deepEqual(await current.race.pool('work').count(), {
      waiting: 0,
      due: 0,
      'backing-off': 0,
      dead: 1,
    })
    await cluster.stop()
  })
}

/** How many suspects each partition that a member holds had when it was taken over. */
function suspectsOf({ race }: ClusterMember): number[] {
  const ownership = race.roster.share({ name: 'pool/work', partitions: 4 })
  return ownership.holding().map((held) => ownership.suspectsOf(held))
}

test('[X43] a member that stops, or hands over, leaves no suspects, and one that is killed does', async () => {
  const cluster = new Cluster()
  const tally: Tally = { done: new Set(), poisoned: 0 }
  const first = await member(cluster, tally)
  await cluster.clock.advance(6000)
  await first.race.stop()
  first.isGone = true
  const second = await member(cluster, tally)
  await cluster.clock.advance(6000)
  assert.deepEqual(suspectsOf(second), [0, 0, 0, 0])
  const third = await member(cluster, tally)
  await cluster.clock.advance(6000)
  assert.deepEqual(suspectsOf(third), [0, 0])
  second.kill()
  await cluster.clock.advance(8000)
  assert.deepEqual(
    suspectsOf(third).toSorted((a, b) => a - b),
    [0, 0, INNOCENTS + 1, INNOCENTS + 1],
  )
  await cluster.stop()
})
