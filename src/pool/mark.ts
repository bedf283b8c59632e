// What a mark does to its entry. Pure; every store calls it or is compared with it. Rule [X41] of docs/spec/work.md.
import { type Entry, holdsTurn, liveDueAt } from './entry.ts'
import type { Mark, MarkAnswer } from './store.ts'

export interface Marked {
  /** The entry as it is now; null: nothing was written. */
  entry: Entry | null
  answer: MarkAnswer
}

/** Marks the run of an entry, if it is there and its partition is held. */
export function mark(entry: Entry | undefined, { turn, crashes }: Mark, held: ReadonlySet<number>): Marked {
  if (entry === undefined) return { entry: null, answer: { result: 'gone', nextDueAt: null } }
  const nextDueAt = liveDueAt(entry)
  // Whoever holds the fence: the key may stand in another partition by then.
  if (!holdsTurn(entry, turn)) return { entry: null, answer: { result: 'gone', nextDueAt } }
  if (!held.has(entry.partition)) return { entry: null, answer: { result: 'refused', nextDueAt: null } }
  // The number itself is written, so that a repeat counts once.
  return { entry: { ...entry, crashes }, answer: { result: 'marked', nextDueAt } }
}
