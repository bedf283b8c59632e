// Brings commits to the disk beside the transactions: a sync that stalls holds up who waits for it, and not who writes
// next. All that was committed before a sync began is on the disk when it ends. [J8]
import { closeSync, fdatasync, openSync } from 'node:fs'

/** What is committed while one is under way does not wait for its end; more at once would only take from each other. */
const MOST_AT_ONCE = 2

interface Waiting {
  /** How many commits must be on the disk. */
  commits: number
  resolve: () => void
  reject: (error: Error) => void
}

/** For the file that holds the commits; null where each commit is synced before it ends. Calls when a sync has ended. */
export function openSyncer(log: string | null, ended: () => void): Syncer {
  // Nothing but reading: SQLite writes it, and holds no lock on it that closing this would lose.
  return new Syncer(log === null ? null : openSync(log, 'r'), ended)
}

export class Syncer {
  readonly #file: number | null
  readonly #ended: () => void
  /** Whoever wrote last may have ended before its sync did. */
  #commits = 1
  #synced = 0
  #begun = 0
  #underWay = 0
  #failed: Error | null = null
  #waiting: Waiting[] = []

  constructor(file: number | null, ended: () => void) {
    this.#file = file
    this.#ended = ended
  }

  /** No more are begun before one has ended. */
  get isBusy(): boolean {
    return this.#underWay === MOST_AT_ONCE
  }

  /** Something was committed, here or by another process. */
  committed(): void {
    this.#commits += 1
  }

  /** Resolves when everything committed so far is on the disk. After a failure nothing is known of it any more. */
  reached(): Promise<void> {
    if (this.#failed !== null) return Promise.reject(this.#failed)
    if (this.#file === null || this.#synced === this.#commits) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commits: this.#commits, resolve, reject })
      this.#sync(this.#file as number)
    })
  }

  /** Nothing may be under way any more. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file)
  }

  #sync(file: number): void {
    if (this.isBusy || this.#begun === this.#commits) return
    const commits = this.#commits
    this.#begun = commits
    this.#underWay += 1
    fdatasync(file, (error) => {
      this.#underWay -= 1
      if (error === null) this.#succeed(commits)
      else this.#fail(error)
      this.#ended()
    })
  }

  #succeed(commits: number): void {
    this.#synced = Math.max(this.#synced, commits)
    const rest = this.#waiting.findIndex((waiting) => waiting.commits > this.#synced)
    for (const { resolve } of this.#waiting.splice(0, rest === -1 ? Infinity : rest)) resolve()
    if (this.#waiting.length > 0) this.#sync(this.#file as number)
  }

  #fail(error: Error): void {
    this.#failed = error
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
