// What watches the worker of one life is made of.
import type { Clock } from '../../clock.ts'
import type { Conduct } from './conduct.ts'
import type { JobWitness } from './job-witness.ts'
import type { JobRules } from './jobs.ts'
import type { Made } from './made.ts'
import type { JobSteeringParts } from './job-steering.ts'
import type { JobSuspectsParts } from './job-suspects.ts'
import type { RaceCounts } from './sometimes.ts'

export interface JobConductParts {
  life: Made['life'] & { readonly leavingAt: number }
  rules: JobRules
  clock: Clock
  stood: JobSuspectsParts['stood']
  conduct: Conduct
  witness: JobWitness
  races: RaceCounts
  steered: Pick<JobSteeringParts, 'member' | 'aheadMs' | 'limits'>
}
