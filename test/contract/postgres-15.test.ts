// PostgreSQL 15 keeps every contract, on a real server.
import { postgresContracts } from './postgres-contracts.ts'

await postgresContracts(15)
