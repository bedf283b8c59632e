// A run that a simulated handler was called for, as those know it who watch.
import type { TakenRun } from '../../pool/entry.ts'
import { type AbortCause, RunAborted, type RunContext } from '../../pool/run.ts'
import type { SettleAnswer } from '../../pool/store.ts'

/** How a handler ended; `throw`: it threw. */
export type Ending = 'done' | 'again' | 'retry' | 'dead' | 'cancel' | 'throw'

/** A run that a handler was called for. */
export interface Made {
  readonly taken: TakenRun
  readonly epoch: number
  readonly context: RunContext
  readonly life: { readonly name: string; readonly isDead: boolean }
  readonly startedAt: number
  /** Null: it runs. */
  ending: Ending | null
  /** When its handler ended, by its member's monotonic clock; Infinity: it runs. */
  endedAt: number
  /** What the store answered to its settle, as far as it is known; null: nothing. */
  answer: SettleAnswer['result'] | null
  /** When its signal fired, by its member's monotonic clock; Infinity: it has not, or the run ended at once. */
  abortedAt: number
  /** When it was settled, or let go, by its member's monotonic clock; Infinity: not yet. */
  overAt: number
  /** When its member was answered that its entry is cancelled, by the same clock; Infinity: it was not. */
  cancelledAt: number
}

/** What is known of a run that has just started. */
export const UNDER_WAY = {
  ending: null,
  endedAt: Infinity,
  answer: null,
  abortedAt: Infinity,
  overAt: Infinity,
  cancelledAt: Infinity,
} as const

/** Why a run was aborted; null: it was not. */
export function whyOf({ context }: Made): AbortCause | null {
  const { signal } = context
  return signal.aborted && signal.reason instanceof RunAborted ? signal.reason.why : null
}

/** Whether it ended since it had to, and is due as before. [X14] */
export function isLetGo(made: Made): boolean {
  const why = whyOf(made)
  return made.ending === 'throw' && (why === 'stop' || why === 'lost')
}

/** Whether it threw since its entry was cancelled: it is over, and has nothing to settle. [X24] */
export function isCalledOff(made: Made): boolean {
  return made.ending === 'throw' && whyOf(made) === 'cancel'
}

/** Turns are unique in their partitions. */
export function turnOf({ partition, turn }: TakenRun): string {
  return `${partition} ${turn}`
}
