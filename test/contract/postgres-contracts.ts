// The contract suites of one version of PostgreSQL, over one server.
import { after, test } from 'node:test'
import { durableContract } from '../../src/testing/durable-contract.ts'
import { fenceContract } from '../../src/testing/fence-contract.ts'
import { lockContract } from '../../src/testing/lock-contract.ts'
import { logContract } from '../../src/testing/log-contract.ts'
import { moverContract } from '../../src/testing/mover-contract.ts'
import { poolContract } from '../../src/testing/pool-contract.ts'
import { rosterContract } from '../../src/testing/roster-contract.ts'
import { startPostgres } from '../servers/postgres.ts'
import { postgresPlaces } from './open-postgres.ts'

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
  poolContract(name, places.openSubject)
  logContract(name, places.openSubject)
  moverContract(name, places.openSubject)
  fenceContract(name, places.openSubject)
  rosterContract(name, places.openSubject)
  lockContract(name, places.openSubject)
  durableContract(name, places)
}
