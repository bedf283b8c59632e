// What a session is asked to write, who must wait for the disk, and what in memory follows.

/** State in memory that mirrors a part of the file, and changes only inside a transaction. */
export interface Mirror {
  /** Another process has written: read again what may have changed. Runs in a transaction. */
  refresh(): void
  /** Writes what the works of this transaction changed in memory; before the commit. */
  flush(): void
  /** The transaction is in the file, though perhaps not on the disk yet. */
  committed(): void
  /** The transaction is undone: undo its changes in memory. */
  rolledBack(): void
}

export interface Transaction {
  /** The store's clock, read under the write lock. */
  now: number
  /** Runs after the commit, never after a rollback. */
  afterCommit(call: () => void): void
}

/** What a work is, for faults and for other processes: they need not look at a beat, nor at entries for the roster. */
export type WorkKind =
  | 'put'
  | 'move'
  | 'append'
  | 'fold'
  | 'settle'
  | 'mark'
  | 'cancel'
  | 'roster'
  | 'beat'
  | 'other'

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
