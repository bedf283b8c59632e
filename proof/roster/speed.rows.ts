// The bars of puts into PostgreSQL, measured by the bench of pools.
import { putRate } from '../../bench/pool/put-rate.ts'
import { speedRows } from '../speed-rows.ts'

export const rows = speedRows(putRate)
