// One synchronous step of the memory store, between the two points at which a fault plan may stop it: before the first
// nothing is changed, and before the second everything is.
import type { Faults } from '../../fault.ts'

export type Commit = <Answer>(
  kind: 'put' | 'move' | 'append' | 'settle' | 'mark' | 'cancel' | 'roster' | 'beat',
  step: () => Answer,
) => Answer

export function createCommit(faults: Faults): Commit {
  return (kind, step) => {
    faults.at(`${kind}.before-commit`)
    const answer = step()
    faults.at(`${kind}.after-commit`)
    return answer
  }
}
