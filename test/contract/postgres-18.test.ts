// PostgreSQL 18 keeps every contract, on a real server.
import { postgresContracts } from './postgres-contracts.ts'

await postgresContracts(18)
