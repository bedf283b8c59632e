// The simulator: the same seed is the same run, the product holds in it, and a store that breaks a promise is found.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addRun, medianFaults, newTally, ruleOfThree, unmet } from '../../../src/lab/simulation/report.ts'
import { runSwarm, simulate } from '../../../src/lab/simulation/run.ts'
import { shrink } from '../../../src/lab/simulation/shrink.ts'
import { drawSwarm } from '../../../src/lab/simulation/swarm.ts'
import type { Store, StoreContext } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'

const SEEDS = Array.from({ length: 25 }, (_, nth) => nth + 1)

/** Whether one of some seeds finds what is wrong with a store, and what it says. */
async function findsIn(spoil: (store: Store) => Store): Promise<string> {
  const open = (context: StoreContext): Store => spoil(openMemoryStore(context))
  for (const seed of SEEDS) {
    const { violations } = await runSwarm(drawSwarm(seed), open)
    if (violations[0] !== undefined) return violations[0]
  }
  return 'nothing'
}

void describe('simulation', () => {
  void test('the same seed is the same run, and another is another', async () => {
    const [first, again, other] = [await simulate(7), await simulate(7), await simulate(8)]
    assert.equal(again.hash, first.hash)
    assert.deepEqual(again.races, first.races)
    assert.notEqual(other.hash, first.hash)
  })

  void test('every promise holds in twenty-five runs, which have members, work and faults enough', async () => {
    const tally = newTally()
    for (const seed of SEEDS) addRun(tally, await simulate(seed))
    assert.deepEqual(tally.broken, [])
    assert.ok(medianFaults(tally) >= 3)
    assert.ok(tally.answered >= 200 * SEEDS.length * 0.7)
    assert.deepEqual(unmet(tally), [])
  })

  void test('a swarm is of the sizes that were promised, and draws each fault in some seeds and not in others', () => {
    const swarms = Array.from({ length: 500 }, (_, seed) => drawSwarm(seed))
    assert.ok(
      swarms.every(({ members, operations }) => members >= 2 && members <= 5 && operations.length >= 200),
    )
    for (const fault of ['refused', 'cut', 'delayed', 'crash', 'stalled', 'hintLost'] as const) {
      const without = swarms.filter(({ calls }) => calls[fault] === 0).length
      assert.ok(without > 100 && without < 400, `${fault} is absent in ${without} of 500`)
    }
  })

  void test('a store that loses a tick now and then is found', async () => {
    let moves = 0
    const found = await findsIn((store) => ({
      ...store,
      mover: {
        move: async (request) => {
          moves += 1
          if (moves % 50 > 0) return store.mover.move(request)
          const { entries } = await store.pool.browse.list(request.pool, { state: 'due', limit: 1 })
          const [entry] = entries
          if (entry !== undefined) await store.pool.entries.cancel(request.pool, entry)
          return store.mover.move(request)
        },
      },
    }))
    assert.match(found, /lost|P1|P4|tally|gone/i)
  })

  void test('a store that lets anybody move is found', async () => {
    const found = await findsIn((store) => ({
      ...store,
      mover: {
        move: async (request) => {
          const held = await store.fences.fences(`pool/${request.pool}`)
          const first = held[0]
          if (first === undefined) return store.mover.move(request)
          const mine = held.filter(({ owner }) => owner === first.owner)
          return store.mover.move({ ...request, claim: { owner: first.owner, held: mine } })
        },
      },
    }))
    assert.match(found, /whose fence is|nobody moves it/)
  })

  void test('a run that breaks a promise is made as small as it takes', async () => {
    const swarm = drawSwarm(5)
    const isBroken = async ({ planned, operations }: typeof swarm): Promise<boolean> =>
      planned.some(({ kind }) => kind === swarm.planned[1]?.kind) &&
      operations.some(({ key }) => key === swarm.operations[100]?.key)
    const { swarm: smallest, runs } = await shrink(swarm, isBroken)
    assert.deepEqual([smallest.planned.length, smallest.operations.length, smallest.members], [1, 1, 2])
    assert.ok(Object.values({ ...smallest.calls, longestDelayMs: 0 }).every((rate) => rate === 0))
    assert.ok(runs <= 300)
  })

  void test('runs are added up, and none broken in n is said as fewer than three in n', async () => {
    const tally = newTally()
    const run = await simulate(3)
    addRun(tally, run)
    addRun(tally, { ...run, violations: ['x'] })
    assert.equal(ruleOfThree(tally), '1 of 2 runs broke a promise')
    assert.match(ruleOfThree({ ...tally, brokenRuns: 0, runs: 20_000 }), /fewer than 0.015 % do/)
  })
})
