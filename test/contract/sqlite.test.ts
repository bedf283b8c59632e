// The SQLite store keeps every contract, on real files. Those of fences, roster and locks are about several members,
// so they are also kept by two openings of one file, called in turns.
import { durableContract } from '../../src/testing/durable-contract.ts'
import { fenceContract } from '../../src/testing/fence-contract.ts'
import { inspectContract } from '../../src/testing/inspect-contract.ts'
import { lockContract } from '../../src/testing/lock-contract.ts'
import { logContract } from '../../src/testing/log-contract.ts'
import { moverContract } from '../../src/testing/mover-contract.ts'
import { poolContract } from '../../src/testing/pool-contract.ts'
import { rosterContract } from '../../src/testing/roster-contract.ts'
import { openSqlite, openSqliteTwice, sqliteFiles } from './open-sqlite.ts'

poolContract('sqlite', openSqlite)
logContract('sqlite', openSqlite)
moverContract('sqlite', openSqlite)
durableContract('sqlite', sqliteFiles)
inspectContract('sqlite', openSqlite)
for (const [suite, open] of [
  ['sqlite', openSqlite],
  ['sqlite, two openings', openSqliteTwice],
] as const) {
  fenceContract(suite, open)
  rosterContract(suite, open)
  lockContract(suite, open)
}
