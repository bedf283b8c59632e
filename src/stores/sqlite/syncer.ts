// Brings commits to the disk while later transactions run: a sync that stalls delays those who wait for it, not those who
// write next. All that was committed before a sync began is on the disk when it ends. [J8]
import { closeSync, fdatasync, openSync } from 'node:fs'

/** What is committed while one is under way does not wait for its end; more at once would only take from each other. */
const MOST_AT_ONCE = 2

interface Waiting {
  /** How many commits must be on the disk. */
  commits: number
  resolve: () => void
  reject: (error: Error) => void
}

export class Syncer {
  /** Those that no sync is under way on. Each has its own: the system reports a failed write once to each open descriptor. */
  readonly #free: number[]
  /** Whether there is something to sync. */
  readonly #isNeeded: boolean
  readonly #ended: () => void
  /** Whoever wrote last may have ended before its sync did. */
  #commits = 1
  #begun = 0
  #synced = 0
  #failed: Error | null = null
  #waiting: Waiting[] = []
  #closing: (() => void) | null = null

  /** For the file that holds the commits; null where each commit is synced before it ends. Calls when a sync has ended. */
  constructor(log: string | null, ended: () => void) {
    this.#isNeeded = log !== null
    // It is SQLite that writes it, and that holds no lock on it which closing these would lose.
    this.#free = log === null ? [] : Array.from({ length: MOST_AT_ONCE }, () => openSync(log, 'r+'))
    this.#ended = ended
  }

  /** No more are begun before one has ended. */
  get isBusy(): boolean {
    return this.#isNeeded && this.#free.length === 0
  }

  /** Something was committed, here or by another process. */
  committed(): void {
    this.#commits += 1
  }

  /** Resolves when everything committed so far is on the disk. After a failure nothing is known of it any more. */
  reached(): Promise<void> {
    if (this.#failed !== null) return Promise.reject(this.#failed)
    if (!this.#isNeeded || this.#synced === this.#commits) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commits: this.#commits, resolve, reject })
      this.#sync()
    })
  }

  /** Waits for what is under way, and is not to be used after that. */
  async close(): Promise<void> {
    if (!this.#isNeeded) return
    if (this.#isUnderWay) await new Promise<void>((resolve) => (this.#closing = resolve))
    for (const file of this.#free.splice(0)) closeSync(file)
  }

  get #isUnderWay(): boolean {
    return this.#free.length < MOST_AT_ONCE || this.#waiting.length > 0
  }

  #sync(): void {
    const commits = this.#commits
    const file = this.#begun === commits ? undefined : this.#free.pop()
    if (file === undefined) return
    this.#begun = commits
    fdatasync(file, (error) => {
      this.#free.push(file)
      if (error === null) this.#succeed(commits)
      else this.#fail(error)
      this.#ended()
      if (this.#closing !== null && !this.#isUnderWay) this.#closing()
    })
  }

  #succeed(commits: number): void {
    if (this.#failed !== null) return
    this.#synced = Math.max(this.#synced, commits)
    const rest = this.#waiting.findIndex((waiting) => waiting.commits > this.#synced)
    for (const { resolve } of this.#waiting.splice(0, rest === -1 ? Infinity : rest)) resolve()
    if (this.#waiting.length > 0) this.#sync()
  }

  #fail(error: Error): void {
    this.#failed = error
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
