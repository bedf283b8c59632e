// Reads and writes of one process on the file. Writes of one event-loop turn share one transaction and one
// fsync; nothing is awaited inside it. Memory that mirrors the file takes part by `Mirror`.
import type { Clock } from '../../clock.ts'
import type { FaultPoint, Faults } from '../../fault.ts'
import type { StoreOperation, Emitter } from '../../telemetry.ts'
import { HeadraceError, messageOf } from '../../errors.ts'
import { Checkpointer } from './checkpointer.ts'
import { type Database, isBusy, isRefusal, rollBack, toHeadraceError } from './database.ts'

/** State in memory that mirrors a part of the file, and changes only inside a transaction. */
export interface Mirror {
  /** Another process has written: read again what may have changed. Runs in a transaction. */
  refresh(): void
  /** Writes what the works of this transaction changed in memory; before the commit. */
  flush(): void
  /** The transaction is on the disk. */
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

interface Work {
  kind: WorkKind
  run(tx: Transaction): unknown
  resolve(answer: unknown): void
  reject(error: unknown): void
  deadline: number
  /** It shared a transaction with a work that failed, perhaps itself. */
  alone: boolean
}

/** What a work is, for faults and for other processes: they need not look at a beat, nor at entries for the roster. */
type WorkKind = 'put' | 'move' | 'append' | 'fold' | 'roster' | 'beat' | 'other'

/** The most works in one transaction; each is bounded by its caller. */
const MOST_WORKS = 64

/** A write that cannot get the lock for so long is refused with `store_busy`. */
const WRITE_WITHIN_MS = 5000

/**
 * How long a refused write tells against the store. Whether the next one has room cannot be tried: a small
 * write finds some where a larger one does not. While ticks are due, their move is tried more often than this.
 */
const REFUSAL_MS = 5000

export interface SessionParts {
  database: Database
  clock: Clock
  telemetry: Emitter
  faults: Faults
}

export class Session {
  readonly #parts: SessionParts
  readonly #mirrors: Mirror[] = []
  readonly #checkpointer: Checkpointer
  #waiting: Work[] = []
  #scheduled = false
  #idle: Promise<void> = Promise.resolve()
  #dataVersion: number
  #refused: { why: string; at: number } | null = null
  /** Why nothing may be read or written any more: memory may no longer mirror the file. */
  #broken: HeadraceError | null = null

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#checkpointer = new Checkpointer(parts)
    this.#dataVersion = parts.database.dataVersion()
  }

  /** Adds a mirror, and fills it from the file. */
  mirror(mirror: Mirror): void {
    this.#reading(() => mirror.refresh())
    this.#mirrors.push(mirror)
  }

  /** Runs a reading work at once, on one snapshot of the file. */
  read<Answer>(work: () => Answer, operation: StoreOperation = 'read'): Answer {
    if (this.#broken !== null) throw this.#broken
    const began = this.#parts.clock.mono()
    const answer = this.#reading(() => {
      this.#refresh()
      return work()
    })
    const tookMs = this.#parts.clock.mono() - began
    this.#parts.telemetry.emit('store.called', { operation, tookMs })
    return answer
  }

  /** Runs a writing work in this turn's transaction; answers after its commit. Beats go first, in one of their own. */
  write<Answer>(kind: WorkKind, run: (tx: Transaction) => Answer): Promise<Answer> {
    if (this.#broken !== null) return Promise.reject(this.#broken)
    return new Promise((resolve: (answer: Answer) => void, reject) => {
      const deadline = this.#parts.clock.mono() + WRITE_WITHIN_MS
      const done = (answer: unknown): void => resolve(answer as Answer)
      const place = kind === 'beat' ? this.#waiting.findLastIndex(isBeat) + 1 : this.#waiting.length
      this.#waiting.splice(place, 0, { kind, run, resolve: done, reject, deadline, alone: false })
      if (this.#scheduled) return
      this.#scheduled = true
      this.#idle = this.#drain()
    })
  }

  /** Why the file refused a write within the last seconds, such as a full disk; null: it did not. */
  refusal(): string | null {
    const lately = this.#parts.clock.mono() - REFUSAL_MS
    return this.#refused !== null && this.#refused.at > lately ? this.#refused.why : null
  }

  /** Resolves when every write so far was answered. */
  async settled(): Promise<void> {
    while (this.#scheduled) await this.#idle
  }

  /** Resolves when every write so far was answered, and nothing of the session is left that uses the file. */
  async close(): Promise<void> {
    await this.settled()
    await this.#checkpointer.close()
  }

  /** Never rejects, and leaves no work unanswered. */
  async #drain(): Promise<void> {
    let waits = 0
    try {
      await new Promise<void>((next) => this.#parts.clock.turn(next))
      while (this.#waiting.length > 0) {
        // Begun and run in one synchronous step: a read in between would find itself inside the transaction.
        if (this.#begin()) this.#runAll(this.#next())
        else {
          waits += 1
          await this.#parts.clock.sleep(1 + this.#parts.clock.random() * 4)
        }
        if (this.#waiting.length === 0) this.#checkpointer.committed()
      }
    } catch (error) {
      this.#break(error)
    } finally {
      this.#scheduled = false
      if (waits > 0) this.#parts.telemetry.emit('store.waited', { waits })
    }
  }

  /** A defect: whoever waits is told, and so is whoever comes. What was answered is on the disk. [J2] */
  #break(cause: unknown): void {
    const { database, telemetry } = this.#parts
    const message = `${database.path}: this process lost track of the file: ${messageOf(cause)}`
    const remedy = 'restart it: nothing that was answered is lost; and report it, since this is a defect'
    this.#broken = new HeadraceError('store_failed', message, { cause, remedy })
    telemetry.emit('store.lost', { error: this.#broken })
    for (const work of this.#waiting.splice(0)) work.reject(this.#broken)
  }

  /**
   * Takes the write lock; false: another process has it, or the file refuses. Waiting is the caller's. Beats are not
   * synced: what a crash of the machine loses is when members were last heard of, and they are gone with it. [J5]
   */
  #begin(): boolean {
    try {
      this.#parts.database.begin(this.#waiting[0]?.kind === 'beat' ? 'NORMAL' : 'FULL')
      return true
    } catch (error) {
      this.#refuse(isBusy(error) ? this.#parts.clock.mono() : Infinity, error)
      return false
    }
  }

  /** Rejects the works whose deadline is before `mono`. */
  #refuse(mono: number, error: unknown): void {
    const late = this.#waiting.filter((work) => work.deadline <= mono)
    this.#waiting = this.#waiting.filter((work) => work.deadline > mono)
    for (const work of late) work.reject(this.#noted(error))
  }

  /** The works of the next transaction: one that must be alone, or those before the first such; all beats, or none. */
  #next(): Work[] {
    const beats = this.#waiting[0]?.kind === 'beat'
    const end = this.#waiting.slice(0, MOST_WORKS).findIndex((work) => work.alone || isBeat(work) !== beats)
    return this.#waiting.splice(0, end === -1 ? MOST_WORKS : Math.max(1, end))
  }

  /** Runs the works in the transaction that was begun. When one of several throws, each is run again, alone. */
  #runAll(works: Work[]): void {
    const began = this.#parts.clock.mono()
    const calls: (() => void)[] = []
    let answers: unknown[]
    try {
      this.#refresh()
      const tx: Transaction = { now: this.#parts.clock.now(), afterCommit: (call) => void calls.push(call) }
      const changes = this.#parts.database.changes()
      answers = works.map((work) => work.run(tx))
      for (const mirror of this.#mirrors) mirror.flush()
      if (works.some(isSeen) && this.#parts.database.changes() > changes)
        this.#parts.database.statement('count_commit').run()
      this.#point(works, 'before-commit')
      this.#parts.database.exec('COMMIT')
    } catch (error) {
      // Before the rollback, which may fail, too: then who waits is told so.
      if (works.length === 1) works[0]?.reject(this.#noted(error))
      else this.#waiting.unshift(...works.map((work) => ({ ...work, alone: true })))
      this.#undo()
      return
    }
    try {
      this.#point(works, 'after-commit')
      for (const mirror of this.#mirrors) mirror.committed()
      // Each on its own: one that throws must not stop the session.
      for (const call of calls) queueMicrotask(call)
    } finally {
      // They are on the disk, whatever became of the rest.
      works.forEach((work, index) => work.resolve(answers[index]))
    }
    const tookMs = this.#parts.clock.mono() - began
    const operation = works.some(isBeat) ? 'pulse' : 'commit'
    this.#parts.telemetry.emit('store.called', { operation, tookMs })
  }

  #noted(error: unknown): unknown {
    const ours = toHeadraceError(error, this.#parts.database.path)
    if (isRefusal(error)) this.#refused = { why: messageOf(ours), at: this.#parts.clock.mono() }
    return ours
  }

  #undo(): void {
    rollBack(() => this.#parts.database.exec('ROLLBACK'))
    for (const mirror of this.#mirrors) mirror.rolledBack()
  }

  #reading<Answer>(work: () => Answer): Answer {
    const { database } = this.#parts
    try {
      database.exec('BEGIN')
    } catch (error) {
      throw toHeadraceError(error, database.path)
    }
    try {
      const answer = work()
      database.exec('COMMIT')
      return answer
    } catch (error) {
      rollBack(() => database.exec('ROLLBACK'))
      throw toHeadraceError(error, database.path)
    }
  }

  #refresh(): void {
    const dataVersion = this.#parts.database.dataVersion()
    if (dataVersion === this.#dataVersion) return
    for (const mirror of this.#mirrors) mirror.refresh()
    this.#dataVersion = dataVersion
  }

  #point(works: Work[], when: 'before-commit' | 'after-commit'): void {
    for (const { kind } of works) {
      if (kind !== 'other') this.#parts.faults.at(`${kind}.${when}` as FaultPoint)
    }
  }
}

function isBeat({ kind }: Work): boolean {
  return kind === 'beat'
}

/** Whether other processes shall look at the entries and events after it. [J6] */
function isSeen({ kind }: Work): boolean {
  return kind !== 'beat' && kind !== 'roster'
}
