// The bars of work on pools, measured by its bench: on PostgreSQL beside its peers, and on a file.
import { questions } from '../../bench/work.ts'
import { speedRows } from '../speed-rows.ts'

export const rows = Object.values(questions).flat().flatMap(speedRows)
