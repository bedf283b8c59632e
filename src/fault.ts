// Named points between the steps of a protocol. They do nothing unless a fault plan is installed, by the
// simulator or by a process test; the cost in production is one comparison.

export const FAULT_POINTS = [
  'put.before-commit',
  'put.after-commit',
  'move.after-claim',
  'move.before-commit',
  'move.after-commit',
  'append.before-commit',
  'append.after-commit',
  'fold.before-commit',
  'settle.before-commit',
  'settle.after-commit',
  'mark.before-commit',
  'mark.after-commit',
  'cancel.before-commit',
  'cancel.after-commit',
  'roster.before-commit',
  'roster.after-commit',
  'beat.before-commit',
  'beat.after-commit',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]

/** The plan of one member: called at each point, it may end the process, throw, or block. */
export interface Faults {
  at(point: FaultPoint): void
}

export const noFaults: Faults = { at: () => undefined }
