// Reads and writes of one process on the file. Writes of one event-loop turn share one transaction; nothing is awaited
// inside it. They, and what reads saw, are answered when it is on the disk. Memory that mirrors the file is a `Mirror`.
import type { Clock } from '../../clock.ts'
import type { FaultPoint, Faults } from '../../fault.ts'
import type { StoreOperation, Emitter } from '../../telemetry.ts'
import { HeadraceError, messageOf } from '../../errors.ts'
import { Checkpointer } from './checkpointer.ts'
import { type Database, isBusy, isRefusal, rollBack, toHeadraceError } from './database.ts'
import { Syncer } from './syncer.ts'
import type { Mirror, Transaction, Work, WorkKind } from './work.ts'
import { isAnsweredAtOnce, isBeat, isSeen } from './work.ts'

/** The most works in one transaction; each is bounded by its caller. */
const MOST_WORKS = 64

/** A write that cannot get the lock for so long is refused with `store_busy`. */
const WRITE_WITHIN_MS = 5000

/**
 * How long a refused write counts against the store. Whether the next one has room cannot be tried: a small
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
  readonly #syncer: Syncer
  #waiting: Work[] = []
  #scheduled = false
  #idle: Promise<void> = Promise.resolve()
  #hasGathered = false
  /** How many transactions wait for the disk. */
  #unanswered = 0
  #dataVersion: number
  #refused: { why: string; at: number } | null = null
  /** Why nothing may be read or written any more: memory may no longer mirror the file. */
  #broken: HeadraceError | null = null

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#checkpointer = new Checkpointer(parts)
    this.#syncer = new Syncer(parts.database.log(), () => this.#proceed())
    this.#dataVersion = parts.database.dataVersion()
  }

  /** Adds a mirror, and fills it from the file. */
  mirror(mirror: Mirror): void {
    this.#reading(() => mirror.refresh())
    this.#mirrors.push(mirror)
  }

  /** Runs a reading work at once, on one snapshot of the file; answers when what it saw is on the disk. */
  async read<Answer>(work: () => Answer): Promise<Answer> {
    const answer = this.look(work)
    await this.#synced()
    return answer
  }

  /** The same, answered at once: for what nobody is shown, since a crash of the machine may undo it. */
  look<Answer>(work: () => Answer, operation: StoreOperation = 'read'): Answer {
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

  /**
   * Runs a writing work in this turn's transaction; answers when that is on the disk. Beats go first, in one of their
   * own. Beats and moves are answered before: what they did is not shown to anybody by that.
   */
  write<Answer>(kind: WorkKind, run: (tx: Transaction) => Answer): Promise<Answer> {
    if (this.#broken !== null) return Promise.reject(this.#broken)
    return new Promise((resolve: (answer: Answer) => void, reject) => {
      const deadline = this.#parts.clock.mono() + WRITE_WITHIN_MS
      const done = (answer: unknown): void => resolve(answer as Answer)
      const place = kind === 'beat' ? this.#waiting.findLastIndex(isBeat) + 1 : this.#waiting.length
      this.#waiting.splice(place, 0, { kind, run, resolve: done, reject, deadline, alone: false })
      this.#schedule()
    })
  }

  /** Why the file refused a write within the last seconds, such as a full disk; null: it did not. */
  refusal(): string | null {
    const lately = this.#parts.clock.mono() - REFUSAL_MS
    return this.#refused !== null && this.#refused.at > lately ? this.#refused.why : null
  }

  /** Refuses this and every later call if the file is no longer the one that was opened; for every pulse. [J9] */
  checkFile(): void {
    if (this.#broken !== null) throw this.#broken
    this.#lose(this.#parts.database.identity.replacedSince())
  }

  #lose(replaced: HeadraceError | null): void {
    if (replaced === null) return
    this.#end(replaced)
    throw this.#broken
  }

  /** Resolves when every write so far was answered. */
  async settled(): Promise<void> {
    while (this.#scheduled || this.#unanswered > 0 || this.#waiting.length > 0) {
      await this.#idle
      await this.#syncer.reached().catch(() => undefined)
    }
  }

  /** Resolves when every write so far was answered, and nothing of the session is left that uses the file. */
  async close(): Promise<void> {
    await this.settled()
    await this.#checkpointer.close()
    await this.#syncer.close()
  }

  /** A sync has ended: what has gathered goes on, even if reads have begun the next one. */
  #proceed(): void {
    this.#hasGathered = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayBegin()) return
    this.#scheduled = true
    this.#idle = this.#drain()
  }

  /** What has to wait for the disk gathers while syncs are under way: in the next transaction all of it waits once. */
  #mayBegin(): boolean {
    const mayWait = this.#syncer.isBusy && !this.#hasGathered
    return this.#waiting.length > 0 && (!mayWait || this.#waiting.some(isAnsweredAtOnce))
  }

  /** Never rejects, and leaves no work unanswered. */
  async #drain(): Promise<void> {
    let waits = 0
    try {
      await new Promise<void>((next) => this.#parts.clock.turn(next))
      while (this.#mayBegin()) {
        // Begun and run in one synchronous step: a read in between would find itself inside the transaction.
        if (this.#begin()) {
          this.#runAll(this.#next())
          this.#hasGathered = false
        } else {
          waits += 1
          await this.#parts.clock.sleep(1 + this.#parts.clock.random() * 4)
        }
        if (!this.#mayBegin()) this.#checkpointer.committed()
      }
    } catch (error) {
      this.#break(error)
    } finally {
      this.#scheduled = false
      if (waits > 0) this.#parts.telemetry.emit('store.waited', { waits })
    }
  }

  /** Open calls and later ones fail. What was answered is on the disk. [J2] */
  #break(cause: unknown, also = 'and report it, since this is a defect'): void {
    if (this.#broken !== null) return
    const { database } = this.#parts
    const message = `${database.path}: this process lost track of the file: ${messageOf(cause)}`
    const remedy = `restart it: nothing that was answered is lost; ${also}`
    this.#end(new HeadraceError('store_failed', message, { cause, remedy }))
  }

  #end(error: HeadraceError): void {
    if (this.#broken !== null) return
    this.#broken = error
    this.#parts.telemetry.emit('store.lost', { error })
    for (const work of this.#waiting.splice(0)) work.reject(error)
  }

  /** Takes the write lock; false: another process has it, or the file refuses. Waiting is the caller's. */
  #begin(): boolean {
    try {
      this.#parts.database.exec('BEGIN IMMEDIATE')
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
    let [answers, hasChanged]: [unknown[], boolean] = [[], false]
    try {
      this.#refresh()
      const tx: Transaction = { now: this.#parts.clock.now(), afterCommit: (call) => void calls.push(call) }
      const changes = this.#parts.database.changes()
      answers = works.map((work) => work.run(tx))
      for (const mirror of this.#mirrors) mirror.flush()
      hasChanged = this.#parts.database.changes() > changes
      if (hasChanged && works.some(isSeen)) this.#parts.database.statement('count_commit').run()
      this.#point(works, 'before-commit')
      this.#parts.database.exec('COMMIT')
    } catch (error) {
      // Before the rollback, which may fail, too: then open calls fail with that error.
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
      // They are in the file, whatever became of the rest.
      if (hasChanged) this.#syncer.committed()
      void this.#answer(works, answers, began)
    }
  }

  /** Never rejects. Beats are not synced: a crash of the machine loses the last heartbeats of members, and the members. [J5] */
  async #answer(works: Work[], answers: unknown[], began: number): Promise<void> {
    const { clock, telemetry } = this.#parts
    const beats = works.some(isBeat)
    works.forEach((work, index) => isAnsweredAtOnce(work) && work.resolve(answers[index]))
    if (!beats) {
      this.#unanswered += 1
      try {
        await this.#synced()
        // What was written into a file that nobody will find again is not answered.
        this.#lose(this.#parts.database.identity.moved())
        works.forEach((work, index) => work.resolve(answers[index]))
      } catch (error) {
        for (const work of works) work.reject(error)
      }
      this.#unanswered -= 1
    }
    telemetry.emit('store.called', { operation: beats ? 'pulse' : 'commit', tookMs: clock.mono() - began })
  }

  /** Resolves when all that was committed so far is on the disk. A disk that failed to take it is not asked again. */
  async #synced(): Promise<void> {
    try {
      await this.#syncer.reached()
    } catch (error) {
      this.#break(error, 'and look after the disk first, which failed to take what was written')
      throw this.#broken
    }
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
    // It may have been written by a process that has not synced it yet.
    this.#syncer.committed()
    this.#dataVersion = dataVersion
  }

  #point(works: Work[], when: 'before-commit' | 'after-commit'): void {
    for (const { kind } of works) {
      if (kind !== 'other') this.#parts.faults.at(`${kind}.${when}` as FaultPoint)
    }
  }
}
