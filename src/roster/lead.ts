// What the leader decides from what it sees. Pure. [K3] [K5] [A5]
import { changesOf } from './plan.ts'
import type { Timing } from './settings.ts'
import type { Decision, Leader, RosterView } from './store.ts'

export interface LeadContext {
  leader: Leader
  timing: Timing
  /** By the store's clock: nobody is judged before. [K5] */
  mayJudgeFrom: number
}

/** What is to be written; null: nothing. */
export function lead(view: RosterView, { leader, timing, mayJudgeFrom }: LeadContext): Decision | null {
  const silentSince = view.now - timing.leaseMs
  const silent = view.members.filter(
    ({ id, heartbeatAt }) => id !== leader.member && heartbeatAt < silentSince,
  )
  const dead = view.now < mayJudgeFrom ? [] : silent.map(({ id }) => id)
  const changes = changesOf(view, { dead })
  if (dead.length === 0 && changes.length === 0) return null
  const { leaseMs, gapMs } = timing
  return { leader: leader.member, term: leader.term, leaseMs, gapMs, dead, changes }
}
