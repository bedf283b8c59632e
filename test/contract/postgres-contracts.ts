// The contract suites of one version of PostgreSQL, over one server.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Store } from '../../src/store.ts'
import { alternate } from '../../src/testing/alternate.ts'
import { durableContract } from '../../src/testing/durable-contract.ts'
import { fenceContract } from '../../src/testing/fence-contract.ts'
import { lockContract } from '../../src/testing/lock-contract.ts'
import { logContract } from '../../src/testing/log-contract.ts'
import { moverContract } from '../../src/testing/mover-contract.ts'
import { poolContract } from '../../src/testing/pool-contract.ts'
import { rosterContract } from '../../src/testing/roster-contract.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { startPostgres } from '../servers/postgres.ts'
import { compareSeeds } from './compare-seeds.ts'
import { type PostgresPlaces, postgresPlaces } from './open-postgres.ts'
import { playSeed } from './play-seed.ts'

/** Half a second each. What they meet is checked on memory, which plays more of them. */
const SEEDS = Number(process.env['SEEDS'] ?? 12)

export async function postgresContracts(version: number): Promise<void> {
  const server = await startPostgres(version, { fsync: false })
  const name = `postgres ${version}`
  if (server === null) {
    void test(name, { skip: 'it is not installed' })
    return
  }
  const places = postgresPlaces(server)
  after(async () => {
    await places.close()
    await server.remove()
  })
  contracts(name, places)
  comparisons(name, places)
}

/** Every contract suite. */
export function contracts(name: string, places: PostgresPlaces): void {
  poolContract(name, places.openSubject)
  logContract(name, places.openSubject)
  moverContract(name, places.openSubject)
  for (const [suite, open] of [
    [name, places.openSubject],
    [`${name}, two openings`, places.openTwice],
  ] as const) {
    fenceContract(suite, open)
    rosterContract(suite, open)
    lockContract(suite, open)
  }
  durableContract(name, places)
}

/** To repeat a failure, run its seed alone: SEED=17 node --test test/contract/postgres-15.test.ts */
function comparisons(name: string, places: PostgresPlaces): void {
  void describe(`${name}: beside memory`, () => {
    void test('[W1] closed and opened on the way, it answers seeds of operations as memory does', async () => {
      const place = await places.create()
      await compareSeeds(SEEDS, { open: (clock) => places.open(place, clock), durable: true })
    })

    void test('[W2] two openings, called in turns, answer as memory does', async () => {
      const place = await places.create()
      const open = (clock: VirtualClock): Promise<Store> => places.open(place, clock)
      await compareSeeds(3, {
        open: async (clock) => alternate(await open(clock), await open(clock)),
        durable: true,
      })
    })

    void test('[P1] [P2] [P3] [P4] hold in the histories of 2 seeds', async () => {
      const place = await places.create()
      for (let seed = 1; seed <= 2; seed += 1) {
        assert.deepEqual(await playSeed(seed, (clock) => places.open(place, clock)), [])
      }
    })
  })
}
