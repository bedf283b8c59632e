// What is wrong with the end of a run: it was aborted where it should be, and is settled as it ended, under the epoch of its
// take, and not at all if it was aborted and threw. Rules [X11], [X13] to [X15] and [X24] of docs/spec/work.md.
import type { Claim } from '../../fence.ts'
import type { Outcome } from '../../pool/settle.ts'
import { type Made, isCalledOff, isLetGo, whyOf } from './made.ts'
import type { Race } from './sometimes.ts'

export function wrongWithSettle(
  made: Made,
  { outcome, claim, attempts }: { outcome: Outcome; claim: Claim; attempts: number },
): string[] {
  const wrong: string[] = []
  const held = claim.held.find(({ partition }) => partition === made.taken.partition)
  if (held?.epoch !== made.epoch)
    wrong.push(`[X15] under epoch ${made.epoch}, and it is settled under ${held?.epoch}`)
  const { ending } = made
  const isFailure = ending === 'throw' || ending === 'retry'
  const isLast = made.taken.attempt + 1 >= attempts
  const expected = isFailure ? (isLast ? 'dead' : 'retry') : ending
  const rule = isLetGo(made) ? 'X14' : isCalledOff(made) ? 'X24' : null
  if (rule !== null)
    wrong.push(`[${rule}] and threw when it was aborted by ${whyOf(made)}, and is settled as ${outcome.kind}`)
  else if (outcome.kind !== expected)
    wrong.push(`[X11] and ended with ${ending}, and is settled as ${outcome.kind}`)
  return wrong
}

/** Of a run whose handler has just ended. */
export function wrongWithEnd(made: Made, timeoutMs: number | null): string[] {
  const tookMs = made.endedAt - made.startedAt
  if (whyOf(made) !== null) return []
  const wrong: string[] = []
  if (made.cancelledAt < made.endedAt)
    wrong.push(`[X24] and its entry was cancelled here, and its signal did not fire`)
  if (timeoutMs !== null && tookMs > timeoutMs) wrong.push(`[X13] and took ${tookMs} ms without an abort`)
  return wrong
}

/** Which races the end of a run has met, whose key its own member has asked to cancel or not. */
export function racesOf(made: Made, isAskedHere: boolean): Race[] {
  const why = whyOf(made)
  if (why === 'timeout') return ['a run timed out']
  const isFromElsewhere = why === 'cancel' && !isAskedHere
  return isFromElsewhere ? ['a run was called off that another member had cancelled'] : []
}
