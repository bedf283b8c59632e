// All mutants, in the order of their names.
import { crashMarkMutants } from './crash-marks.ts'
import { fenceMutants } from './fences.ts'
import { limitMutants } from './limits.ts'
import { postgresMutants } from './postgres.ts'
import { putMutants } from './put.ts'
import { rosterMutants } from './roster.ts'
import { settleMutants } from './settle.ts'
import { sqliteMutants } from './sqlite.ts'
import { tickMutants } from './ticks.ts'
import { workerMutants } from './worker.ts'
import type { Mutant } from './mutant.ts'

export const mutants: readonly Mutant[] = [
  ...crashMarkMutants,
  ...fenceMutants,
  ...limitMutants,
  ...postgresMutants,
  ...putMutants,
  ...rosterMutants,
  ...settleMutants,
  ...sqliteMutants,
  ...tickMutants,
  ...workerMutants,
].toSorted((a, b) => (a.name < b.name ? -1 : 1))
