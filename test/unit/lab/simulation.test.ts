// The simulator: the same seed is the same run, the product holds in it, and a store that breaks a promise is found.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FAULT_POINTS } from '../../../src/fault.ts'
import { addRun, medianFaults, newTally, ruleOfThree, unmet } from '../../../src/lab/simulation/report.ts'
import { runSwarm, simulate } from '../../../src/lab/simulation/run.ts'
import { shrink } from '../../../src/lab/simulation/shrink.ts'
import { RACES } from '../../../src/lab/simulation/sometimes.ts'
import { type Swarm, drawSwarm } from '../../../src/lab/simulation/swarm.ts'
import type { Store, StoreContext } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { openAhead, rewritten } from '../testing/open-recorded.ts'

const SEEDS = Array.from({ length: 25 }, (_, nth) => nth + 1)

/** Whether one of some seeds finds what is wrong with a store, and what it says. */
async function findsIn(
  spoil: (store: Store) => Store,
  { openStore = openMemoryStore, swarms = SEEDS.map((seed) => drawSwarm(seed)) } = {},
): Promise<string> {
  const open = (context: StoreContext): Store => spoil(openStore(context))
  for (const swarm of swarms) {
    const { violations } = await runSwarm(swarm, open)
    if (violations[0] !== undefined) return violations[0]
  }
  return 'nothing'
}

/** A port with some of its calls replaced. */
function bound<Port extends object>(port: Port, calls: Partial<Port>): Port {
  return new Proxy(port, {
    get: (_, name) => {
      const own: unknown = Reflect.get(name in calls ? calls : port, name)
      return typeof own === 'function' ? (own.bind(port) as unknown) : own
    },
  })
}

/** How many swarms lack each fault of calls. */
function absences(swarms: Swarm[]): Record<string, number> {
  const faults = Object.keys(swarms[0]?.calls ?? {}).filter((name) => !name.endsWith('Ms'))
  const absent = (fault: string): number =>
    swarms.filter(({ calls }) => calls[fault as keyof typeof calls] === 0).length
  return Object.fromEntries(faults.map((fault) => [fault, absent(fault)]))
}

void describe('simulation', () => {
  void test('the same seed is the same run, and another is another', async () => {
    const [first, again, other] = [await simulate(7), await simulate(7), await simulate(8)]
    assert.equal(again.hash, first.hash)
    assert.deepEqual(again.races, first.races)
    assert.notEqual(other.hash, first.hash)
  })

  void test('every promise holds in twenty-five runs, which have members, work and faults enough', async () => {
    const tally = newTally(1)
    for (const seed of SEEDS) addRun(tally, await simulate(seed))
    assert.deepEqual(tally.broken, [])
    assert.ok(medianFaults(tally) >= 3)
    assert.ok(tally.fewestOperations >= 200)
    assert.ok(Object.keys(tally.members).every((most) => Number(most) >= 2 && Number(most) <= 5))
    assert.ok(tally.answered >= 200 * SEEDS.length * 0.7)
    assert.ok(unmet(tally).length < 8, unmet(tally).join('\n'))
  })

  void test('what no run has met is named: races, and points at which nobody died', () => {
    const tally = newTally(1)
    assert.equal(unmet(tally).length, RACES.length + FAULT_POINTS.length)
    tally.races['the leader changed'] = 1
    tally.points['fold.before-commit'] = { reached: 2, died: 1 }
    tally.points['beat.after-commit'] = { reached: 2, died: 0 }
    const left = unmet(tally)
    assert.equal(left.length, RACES.length + FAULT_POINTS.length - 2)
    assert.ok(
      left.includes('a death at beat.after-commit') && !left.includes('a death at fold.before-commit'),
    )
  })

  void test('a swarm is of the sizes that were promised, and draws each fault in some seeds and not in others', () => {
    const swarms = Array.from({ length: 500 }, (_, seed) => drawSwarm(seed))
    assert.ok(
      swarms.every(({ members, operations }) => members >= 2 && members <= 5 && operations.length >= 200),
    )
    for (const [fault, absent] of Object.entries(absences(swarms))) {
      assert.ok(absent > 100 && absent < 400, `${fault} is absent in ${absent} of 500`)
    }
  })

  void test('swarms ask for everything that users ask for, and have transactions that end late or in vain', () => {
    const operations = Array.from({ length: 20 }, (_, seed) => drawSwarm(seed).operations).flat()
    assert.deepEqual(
      new Set(operations.map(({ kind }) => kind)),
      new Set(['put', 'put-again', 'append', 'cancel', 'reschedule']),
    )
    const endings = operations.flatMap((each) => ('tx' in each && each.tx !== null ? [each.tx] : []))
    assert.ok(endings.some(({ endsInMs, commits }) => commits && endsInMs > 15_000))
    assert.ok(endings.some(({ commits }) => !commits))
    assert.ok(operations.some((each) => 'dueInMs' in each && each.dueInMs > 365 * 86_400_000))
  })

  void test('[L2] a store that appends twice, or answers another place, is found', async () => {
    const spoiled = (times: number) =>
      findsIn((store) => {
        const append: Store['log']['append'] = async (topic, events) => {
          const appended = await store.log.append(topic, events)
          if (times === 2 && events[0]?.key === 'k1') await store.log.append(topic, events)
          return times === 0 ? appended.map((each) => ({ ...each, offset: each.offset + 1 })) : appended
        }
        return { ...store, log: bound(store.log, { append }) }
      })
    assert.match(await spoiled(2), /stands 2 times/)
    assert.match(await spoiled(0), /stands elsewhere/)
  })

  void test('[K5] a store whose members are declared dead while they are well is found', async () => {
    const found = await findsIn((store) => {
      const view: Store['roster']['view'] = async () => {
        const seen = await store.roster.view()
        return { ...seen, members: seen.members.map((each) => ({ ...each, heartbeatAt: each.joinedAt })) }
      }
      const decide: Store['roster']['decide'] = (decision) =>
        store.roster.decide({ ...decision, leaseMs: -1 })
      return { ...store, roster: bound(store.roster, { view, decide }) }
    })
    assert.match(found, /was well all the time|has not beaten lately/)
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

  void test('[T2] a store whose mover goes by a clock that is 400 ms ahead is found', async () => {
    assert.match(
      await findsIn((store) => store, { openStore: openAhead(400) }),
      /^\[P2\] .* before its dueAt$/,
    )
  })

  void test('[T2] a store whose mover comes three seconds late, and tells of none, is found', async () => {
    const { violations } = await runSwarm(drawSwarm(1), openAhead(-3000))
    assert.ok(violations.some((each) => /^\[T2\] .* late, with nothing in its way$/.test(each)))
  })

  void test('[M1] [M4] a store that plans puts late, early or not at all is found in mode one', async () => {
    const swarms = SEEDS.map((seed) => drawSwarm(seed)).filter(({ mode }) => mode === 'one')
    const spoiled = (rewrite: Parameters<typeof rewritten>[1]): Promise<string> =>
      findsIn(
        (store) => {
          const entries = bound(store.pool.entries, { put: rewritten(store, rewrite) })
          return { ...store, pool: { ...store.pool, entries } }
        },
        { swarms },
      )
    const moved = (ms: number) => spoiled((put) => ({ ...put, at: put.at === null ? null : put.at + ms }))
    assert.match(await moved(3_600_000), /^\[M\d\]/)
    assert.match(await moved(-2000), /^\[M\d\]/)
    assert.match(await spoiled((put) => ({ ...put, onConflict: 'keep' })), /^\[M\d\]/)
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
    const run = async ({ planned, operations, spared }: Swarm) => {
      const struck = [3, 5, 7, 11, 13].filter((draw) => !spared.includes(draw))
      const isBroken =
        planned.some(({ kind }) => kind === swarm.planned[1]?.kind) &&
        operations.some(({ key }) => key === swarm.operations[100]?.key) &&
        struck.includes(7)
      return { violations: isBroken ? [`k${operations.length} is lost`] : ['another'], struck }
    }
    const shrunk = await shrink(swarm, run)
    assert.ok(shrunk !== null && shrunk.runs <= 300)
    const { planned, operations, members } = shrunk.swarm
    assert.deepEqual([planned.length, operations.length, members, shrunk.struck], [1, 1, 1, [7]])
  })

  void test('a run that breaks nothing cannot be made smaller', async () => {
    assert.equal(await shrink(drawSwarm(5), async () => ({ violations: [], struck: [] })), null)
  })

  void test('a fault that is spared does not strike, and those before it stay as they were', async () => {
    const swarm = drawSwarm(1)
    const { struck, hash } = await runSwarm(swarm)
    const [first, second] = struck
    assert.ok(first !== undefined && second !== undefined)
    const spared = await runSwarm({ ...swarm, spared: [second] })
    assert.equal(spared.struck[0], first)
    assert.ok(!spared.struck.includes(second))
    assert.notEqual(spared.hash, hash)
  })

  void test('runs are added up, and none broken in n is said as fewer than three in n', async () => {
    const tally = newTally(1)
    const run = await simulate(3)
    addRun(tally, run)
    addRun(tally, { ...run, violations: ['x'] })
    assert.equal(ruleOfThree(tally), '1 of 2 runs from seed 1 broke a promise')
    assert.match(ruleOfThree({ ...tally, brokenRuns: 0, runs: 20_000 }), /fewer than 0.015 % do/)
  })
})
