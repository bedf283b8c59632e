// Every situation in which `why` has a reason to tell.
import type { Reason } from '../../../../src/pool/why.ts'
import { ofLimits } from './of-limits.ts'
import { ofRoster } from './of-roster.ts'
import { ofRuns } from './of-runs.ts'
import { ofStore } from './of-store.ts'
import { type Situation, Stage, type Told } from './situation.ts'

export const SITUATIONS: readonly Situation[] = [...ofRuns, ...ofLimits, ...ofRoster, ...ofStore]

/** Reasons that nothing can have yet: of flows, and of calendars. */
export const NOT_THERE: readonly Reason[] = ['no_demand', 'window_closed']

/** Brings a situation about at this address; answers what was told in it. */
export async function bring(situation: Situation, address?: string): Promise<Told> {
  const stage = new Stage(address)
  // What a stop waits for may be timers that keep no process alive.
  const awake = setInterval(() => undefined, 1000)
  try {
    return await situation.bring(stage)
  } finally {
    await stage.end()
    clearInterval(awake)
  }
}
