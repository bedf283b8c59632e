// Copies the log into the file, which stalls whoever does it: a little at a time on this thread while the event loop has
// time, and under load on a thread of its own, which is there only as long as the load.
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../clock.ts'
import type { Database } from './database.ts'
import { startThread } from './start-thread.ts'

/** About 1,000 pages of log under load, which take some 5 ms to copy. */
const COMMITS_WHEN_CALM = 25
/** Commits that come often are small: a copy for each 25 of them took an eighth of the time. */
const LEAST_BETWEEN_MS = 250
/** A copy writes a page once however often it was written, so under load there are fewer of them. */
const COMMITS_UNDER_LOAD = 50
/** A loop that worked for more of the time than this is busy. */
const BUSY_SHARE = 0.75
/** How long the thread waits for more to do. */
const IDLE_MS = 10_000

export interface CheckpointerParts {
  database: Database
  clock: Clock
}

export class Checkpointer {
  readonly #parts: CheckpointerParts
  #commits = 0
  #finishedAt = -Infinity
  #loop = { idle: 0, active: 0 }
  #thread: Worker | null = null
  #ended: Promise<void> = Promise.resolve()
  /** It cannot run here: it is not tried again with every commit. */
  #hasFailed = false
  #isCopying = false
  #idle: Timer | null = null

  constructor(parts: CheckpointerParts) {
    this.#parts = parts
  }

  /** Called after a commit, when no other waits. */
  committed(): void {
    this.#commits += 1
    if (this.#commits < COMMITS_WHEN_CALM || this.#isCopying) return
    if (this.#parts.clock.mono() < this.#finishedAt + LEAST_BETWEEN_MS) return
    const { idle, active } = this.#parts.clock.loopMs()
    const [idled, worked] = [idle - this.#loop.idle, active - this.#loop.active]
    if (worked < BUSY_SHARE * (worked + idled)) this.#finish()
    else if (this.#commits >= COMMITS_UNDER_LOAD && !this.#hasFailed) this.#copyElsewhere()
    else return
    this.#loop = { idle, active }
  }

  /** Ends the thread; the database may be closed after that. */
  close(): Promise<void> {
    this.#idle?.cancel()
    const thread = this.#thread
    if (thread === null) return this.#ended
    this.#thread = null
    this.#ended = new Promise((resolve) => thread.once('exit', () => resolve()))
    // Who waits for its end may have nothing else that keeps the process alive.
    thread.ref()
    thread.postMessage('close')
    return this.#ended
  }

  /** Copies what is left. When that is all, the next commit begins the log anew. */
  #finish(): void {
    this.#commits = 0
    this.#finishedAt = this.#parts.clock.mono()
    this.#parts.database.checkpoint()
  }

  #copyElsewhere(): void {
    this.#idle?.cancel()
    this.#isCopying = true
    this.#thread ??= this.#start()
    this.#thread.postMessage('copy')
  }

  #start(): Worker {
    const thread = startThread(import.meta.url, 'checkpoint-thread', this.#parts.database.path)
    thread.unref()
    thread.on('message', () => this.#copied(thread))
    // Without it SQLite copies the log by itself, in one piece, when it is long.
    thread.on('error', () => (this.#hasFailed = true))
    thread.on('exit', () => this.#gone(thread))
    return thread
  }

  /** What was written while the thread copied is little. */
  #copied(thread: Worker): void {
    this.#isCopying = false
    if (thread !== this.#thread) return
    this.#finish()
    this.#idle = this.#parts.clock.timer(IDLE_MS, () => void this.close(), { background: true })
  }

  #gone(thread: Worker): void {
    if (thread !== this.#thread) return
    this.#thread = null
    this.#isCopying = false
  }
}
