// The part of the client that speaks of the roster.
import type {
  AllotmentView,
  DrainAnswer,
  RebalanceAnswer,
  RosterView,
  StepDownAnswer,
} from './roster-answers.ts'
import type { Caller } from './transport.ts'

export interface RebalanceQuery {
  /** Nothing is done. */
  preview?: boolean
  /** In a preview: as if these members, by id or name, were told to drain. */
  without?: string[]
}

export interface RosterClient {
  get(): Promise<RosterView>
  allotments(query?: { resource?: string | undefined }): Promise<{ items: AllotmentView[] }>
  /** Tells a member, by id or unique name, to hand over what it has; or `member_unknown`. */
  drain(member: string): Promise<DrainAnswer>
  /** Takes the mark off. */
  undrain(member: string): Promise<DrainAnswer>
  rebalance(query?: RebalanceQuery): Promise<RebalanceAnswer>
  /** Ends the term of the leader. */
  stepDown(): Promise<StepDownAnswer>
}

export function createRosterClient(call: Caller): RosterClient {
  const drain = (member: string): string => `/v1/roster/members/${encodeURIComponent(member)}/drain`
  return {
    get: () => call({ path: '/v1/roster' }),
    allotments: (query = {}) => call({ path: '/v1/roster/allotments', query }),
    drain: (member) => call({ method: 'POST', path: drain(member) }),
    undrain: (member) => call({ method: 'DELETE', path: drain(member) }),
    rebalance: (query = {}) => call({ method: 'POST', path: '/v1/roster/rebalance', body: query }),
    stepDown: () => call({ method: 'POST', path: '/v1/roster/step-down' }),
  }
}
