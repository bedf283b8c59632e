// The SQLite store keeps every contract, on real files.
import { durableContract } from '../../src/testing/durable-contract.ts'
import { inspectContract } from '../../src/testing/inspect-contract.ts'
import { logContract } from '../../src/testing/log-contract.ts'
import { moverContract } from '../../src/testing/mover-contract.ts'
import { poolContract } from '../../src/testing/pool-contract.ts'
import { openSqlite, sqliteFiles } from './open-sqlite.ts'

poolContract('sqlite', openSqlite)
logContract('sqlite', openSqlite)
moverContract('sqlite', openSqlite)
durableContract('sqlite', sqliteFiles)
inspectContract('sqlite', openSqlite)
