// Copies the log into the file, which blocks its thread for two syncs and more: this thread while commits are
// rare, else on a thread of its own, which is there only as long as they come often.
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../clock.ts'
import type { Database } from './database.ts'
import { startThread } from './start-thread.ts'

/** As few as this are copied in some 5 ms. */
const LEAST_COMMITS = 25
/** Commits that come often are small, and a copy writes a page once however often it was written. */
const LEAST_BETWEEN_MS = 250
/** So many since the last copy, which was not long ago, come often. */
const MANY_COMMITS = 50
const LATELY_MS = 1000
/**
 * Pages of a log that is ended on this thread when the other has copied nearly all of it. Before that it may grow: it
 * starts over only when nothing is left to copy.
 */
const LONG_LOG = 8000
/** How long the thread waits for more to do. */
const IDLE_MS = 10_000

export interface CheckpointerParts {
  database: Database
  clock: Clock
}

export class Checkpointer {
  readonly #parts: CheckpointerParts
  #commits = 0
  #copiedAt = -Infinity
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
    if (this.#commits < LEAST_COMMITS || this.#isCopying) return
    const passedMs = this.#parts.clock.mono() - this.#copiedAt
    if (passedMs < LEAST_BETWEEN_MS) return
    if (this.#commits >= MANY_COMMITS && !this.#hasFailed) this.#copyElsewhere()
    else if (passedMs > LATELY_MS) this.#copyHere()
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

  /** When nothing is left to copy, the next commit overwrites the log from its start. */
  #copyHere(): void {
    this.#noteCopy()
    this.#parts.database.checkpoint()
  }

  #noteCopy(): void {
    this.#commits = 0
    this.#copiedAt = this.#parts.clock.mono()
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
    thread.on('message', (pages: number) => this.#copied(thread, pages))
    // Without it SQLite copies the log by itself, in one piece, when it is long.
    thread.on('error', () => (this.#hasFailed = true))
    thread.on('exit', () => this.#gone(thread))
    return thread
  }

  /** What was written while the thread copied is little. */
  #copied(thread: Worker, pages: number): void {
    this.#isCopying = false
    if (thread !== this.#thread) return
    if (pages >= LONG_LOG) this.#copyHere()
    else this.#noteCopy()
    this.#idle = this.#parts.clock.timer(IDLE_MS, () => void this.close(), { background: true })
  }

  #gone(thread: Worker): void {
    if (thread !== this.#thread) return
    this.#thread = null
    this.#isCopying = false
  }
}
