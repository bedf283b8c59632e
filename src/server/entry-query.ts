// How queries name moments and states of entries.
import { checkMoment } from '../check.ts'
import type { EntryState } from '../pool/entry.ts'
import { STATES } from '../pool/list-options.ts'
import { refuse } from './json.ts'

export { STATES }

/** A query holds text only; digits stand for milliseconds. */
export function readMoment(text: string, name = 'at'): number {
  return checkMoment(/^-?\d+$/.test(text) ? Number(text) : text, name)
}

export function readState(state: string): EntryState {
  const found = STATES.find((known) => known === state)
  if (found !== undefined) return found
  throw refuse(`state is ${JSON.stringify(state.slice(0, 64))}`, `choose ${STATES.join(', ')}`)
}
