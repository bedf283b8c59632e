// Reads and writes of one process on the file. Writes of one event-loop turn share one transaction and one
// fsync; nothing is awaited inside it. Memory that mirrors the file takes part by `Mirror`.
import type { Clock } from '../../clock.ts'
import type { FaultPoint, Faults } from '../../fault.ts'
import type { StoreOperation, Telemetry } from '../../telemetry.ts'
import { messageOf } from '../../errors.ts'
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
}

type WorkKind = 'put' | 'move' | 'append' | 'fold' | 'other'

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
  telemetry: Telemetry
  faults: Faults
}

export class Session {
  readonly #parts: SessionParts
  readonly #mirrors: Mirror[] = []
  #waiting: Work[] = []
  #scheduled = false
  #idle: Promise<void> = Promise.resolve()
  #dataVersion: number
  #refused: { why: string; at: number } | null = null

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#dataVersion = parts.database.dataVersion()
  }

  /** Adds a mirror, and fills it from the file. */
  mirror(mirror: Mirror): void {
    this.#inTransaction('BEGIN', () => mirror.refresh())
    this.#mirrors.push(mirror)
  }

  /** Runs a reading work at once, on one snapshot of the file. */
  read<Answer>(work: () => Answer, operation: StoreOperation = 'read'): Answer {
    const began = this.#parts.clock.mono()
    const answer = this.#inTransaction('BEGIN', () => {
      this.#refresh()
      return work()
    })
    this.#parts.telemetry.emit('store.called', {
      operation,
      tookMs: this.#parts.clock.mono() - began,
    })
    return answer
  }

  /** Runs a writing work in this turn's transaction; answers after its commit. */
  write<Answer>(kind: WorkKind, run: (tx: Transaction) => Answer): Promise<Answer> {
    return new Promise((resolve: (answer: Answer) => void, reject) => {
      const deadline = this.#parts.clock.mono() + WRITE_WITHIN_MS
      this.#waiting.push({ kind, run, resolve: (answer) => resolve(answer as Answer), reject, deadline })
      if (this.#scheduled) return
      this.#scheduled = true
      this.#idle = this.#drainNextTurn()
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

  async #drainNextTurn(): Promise<void> {
    await new Promise<void>((next) => this.#parts.clock.turn(next))
    while (this.#waiting.length > 0) {
      const began = this.#parts.clock.mono()
      if (!(await this.#begin())) continue
      this.#runAll(this.#waiting.splice(0))
      this.#parts.telemetry.emit('store.called', {
        operation: 'commit',
        tookMs: this.#parts.clock.mono() - began,
      })
    }
    this.#scheduled = false
  }

  /** Takes the write lock, waiting outside SQLite while another process has it. */
  async #begin(): Promise<boolean> {
    for (let waits = 0; ; waits++) {
      try {
        this.#parts.database.exec('BEGIN IMMEDIATE')
        if (waits > 0) this.#parts.telemetry.emit('store.waited', { waits })
        return true
      } catch (error) {
        this.#refuse(isBusy(error) ? this.#parts.clock.mono() : Infinity, error)
        if (this.#waiting.length === 0) return false
        await this.#parts.clock.sleep(1 + this.#parts.clock.random() * 4)
      }
    }
  }

  /** Rejects the works whose deadline is before `mono`. */
  #refuse(mono: number, error: unknown): void {
    const late = this.#waiting.filter((work) => work.deadline <= mono)
    this.#waiting = this.#waiting.filter((work) => work.deadline > mono)
    for (const work of late) work.reject(toHeadraceError(error, this.#parts.database.path))
  }

  /** Runs the works in the transaction that was begun. When one throws, each gets a transaction of its own. */
  #runAll(works: Work[]): void {
    const calls: (() => void)[] = []
    let answers: unknown[]
    try {
      this.#refresh()
      const tx: Transaction = { now: this.#parts.clock.now(), afterCommit: (call) => void calls.push(call) }
      answers = works.map((work) => work.run(tx))
      for (const mirror of this.#mirrors) mirror.flush()
      this.#point(works, 'before-commit')
      this.#parts.database.exec('COMMIT')
    } catch (error) {
      this.#undo()
      if (works.length > 1) this.#runEach(works)
      else works[0]?.reject(this.#noted(error))
      return
    }
    this.#point(works, 'after-commit')
    for (const mirror of this.#mirrors) mirror.committed()
    works.forEach((work, index) => work.resolve(answers[index]))
    for (const call of calls) call()
  }

  #runEach(works: Work[]): void {
    for (const work of works) {
      try {
        this.#parts.database.exec('BEGIN IMMEDIATE')
      } catch (error) {
        work.reject(this.#noted(error))
        continue
      }
      this.#runAll([work])
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

  #inTransaction<Answer>(begin: 'BEGIN', work: () => Answer): Answer {
    const { database } = this.#parts
    try {
      database.exec(begin)
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
