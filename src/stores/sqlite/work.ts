// What a session is asked to write, and who must wait for the disk.

export interface Transaction {
  /** The store's clock, read under the write lock. */
  now: number
  /** Runs after the commit, never after a rollback. */
  afterCommit(call: () => void): void
}

/** What a work is, for faults and for other processes: they need not look at a beat, nor at entries for the roster. */
export type WorkKind = 'put' | 'move' | 'append' | 'fold' | 'roster' | 'beat' | 'other'

export interface Work {
  kind: WorkKind
  run(tx: Transaction): unknown
  resolve(answer: unknown): void
  reject(error: unknown): void
  deadline: number
  /** It shared a transaction with a work that failed, perhaps itself. */
  alone: boolean
}

export function isBeat({ kind }: Work): boolean {
  return kind === 'beat'
}

/** Beats, and moves: what was moved is shown to readers, who wait for the disk themselves. */
export function isAnsweredAtOnce({ kind }: Work): boolean {
  return kind === 'beat' || kind === 'move'
}

/** Whether other processes shall look at the entries and events after it. [J6] */
export function isSeen({ kind }: Work): boolean {
  return kind !== 'beat' && kind !== 'roster'
}
