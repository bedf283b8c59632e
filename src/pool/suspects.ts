// Holds runs back that may end their process: marks each just before its start, has it alone on its member, or gives it
// up. Rules [X44] to [X47] of docs/spec/work.md; which runs these are is decided by suspicion.ts.
import { Batcher } from '../batcher.ts'
import type { Clock } from '../clock.ts'
import { poolResource } from '../fence.ts'
import { RetryDelay } from '../retry-delay.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Flight } from './run.ts'
import type { Outcome } from './settle.ts'
import { claimOf } from './settler.ts'
import type { Neighbour, Solitude } from './solitude.ts'
import type { Steps } from './steps.ts'
import type { Entries, MarkAnswer } from './store.ts'
import { Suspicion } from './suspicion.ts'

export interface SuspectsTools {
  pool: string
  entries: Pick<Entries, 'mark'>
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  steps: Steps
  solitude: Solitude
}

export interface SuspectsParts extends SuspectsTools {
  /** How many handlers have not ended. */
  running(): number
  /** It is about to start: no more are marked than may. Until it starts, is gone or let go. */
  reserve(flight: Flight): void
  /** Whether a limit or a pause that was set since then lets it start. */
  isOpen(flight: Flight): boolean
  /** False: a limit keeps it waiting. */
  start(flight: Flight): boolean
  settle(flight: Flight, outcome: Outcome): void
  /** Its turn is gone: there is nothing to run. */
  gone(flight: Flight, nextDueAt: number | null): void
  letGo(flight: Flight): void
  /** Something may start that could not before. */
  wake(): void
}

interface Marking {
  flight: Flight
  crashes: number
}

/** The most marks of one call. */
const BATCH = 1000

export class Suspects {
  readonly #parts: SuspectsParts
  readonly #suspicion = new Suspicion()
  readonly #batcher: Batcher<Marking, void>
  readonly #neighbour: Neighbour
  readonly #over = new AbortController()
  readonly #waiters = new Set<() => void>()
  /** The run that is alone, or waits to be. */
  #alone: { flight: Flight; hasBegun: boolean } | null = null
  readonly #cancelled = new WeakSet<Flight>()
  /** Those that count as suspects, and have not started. */
  readonly #charged = new WeakSet<Flight>()
  /** What waits behind a call that is under way, in order. */
  readonly #unsent = new Set<Marking>()
  /** How many wait for their mark. */
  #marking = 0

  constructor(parts: SuspectsParts) {
    this.#parts = parts
    this.#batcher = new Batcher({
      clock: parts.clock,
      size: BATCH,
      weigh: () => 1,
      run: (markings) => this.#mark(markings),
    })
    this.#neighbour = { busy: () => parts.running() + this.#marking, wake: () => parts.wake() }
    parts.solitude.join(this.#neighbour)
  }

  /** How many runs are about to start. */
  get size(): number {
    return this.#marking
  }

  /** Whether a run may start now: none is alone on this member, or waits to be. */
  get mayStart(): boolean {
    return !this.#parts.solitude.isTaken
  }

  /** Follows what is held, and lets go what waits to be alone and may not start any more. */
  follow(): void {
    const { ownership } = this.#parts
    this.#suspicion.follow(
      ownership.holding().map((held) => ({ ...held, suspects: ownership.suspectsOf(held) })),
      ownership.allotted(),
    )
    if (this.#alone?.hasBegun === false && !ownership.mayStart(this.#alone.flight.fence))
      this.#giveUp(this.#alone.flight)
  }

  /** Takes over a run that may not just be started; false: it may. */
  holdsBack(flight: Flight): boolean {
    const treatment = this.#suspicion.look(flight.taken, flight.lane)
    if ('marks' in treatment && treatment.marks !== null) this.#charged.add(flight)
    switch (treatment.kind) {
      case 'start':
        return false
      case 'dead':
        this.#die(flight)
        return true
      case 'mark':
        this.#parts.reserve(flight)
        this.#add(flight, treatment.marks)
        return true
      case 'alone':
        this.#parts.reserve(flight)
        this.#haveAlone(flight, treatment.marks)
        return true
    }
  }

  /** The entry of a run was cancelled: if it is held back it does not start any more; false: it has started. */
  cancel(flight: Flight): boolean {
    if (flight.context !== null) return false
    this.#cancelled.add(flight)
    if (this.#alone?.flight === flight && !this.#alone.hasBegun) this.#gone(flight, null)
    return true
  }

  /** A handler has ended. */
  ended(): void {
    if (this.#parts.solitude.isTaken) this.#parts.solitude.look()
  }

  /** A run was settled or let go, or does not heed its abort. Before its settle a crash of the next would be its, too. */
  done(flight: Flight): void {
    if (this.#alone?.flight === flight) this.#endAlone()
    else this.ended()
  }

  /** Starts nothing any more, and waits for marks that were sent. */
  async end(withinMs: number): Promise<void> {
    this.#over.abort()
    if (this.#alone?.hasBegun === false) this.#giveUp(this.#alone.flight)
    if (this.#marking === 0) return
    const answered = new AbortController()
    this.#waiters.add(() => answered.abort())
    await this.#parts.clock.sleep(withinMs, answered.signal)
  }

  /** No run of this worker counts any more. */
  part(): void {
    this.#parts.solitude.part(this.#neighbour)
  }

  #die(flight: Flight): void {
    const { telemetry, pool } = this.#parts
    const { key, attempt } = flight.taken
    const error = new Error('it was under way in three crashes of its owners')
    const failed = {
      pool,
      key,
      attempt: attempt + 1,
      error,
      isDead: true,
      reason: 'crashed',
      retryInMs: null,
    }
    telemetry.emit('run.failed', failed)
    this.#parts.settle(flight, { kind: 'dead', reason: 'crashed', error: null })
  }

  /** Its mark is written when it is alone: who waits with it must not pay for it. [V19] */
  #haveAlone(flight: Flight, marks: number | null): void {
    const alone = { flight, hasBegun: false }
    this.#alone = alone
    const { pool, solitude } = this.#parts
    solitude.take(this.#neighbour, { pool, key: flight.taken.key }, () => {
      alone.hasBegun = true
      if (marks === null) this.#start(flight)
      else this.#add(flight, marks)
    })
  }

  #endAlone(): void {
    this.#alone = null
    this.#parts.solitude.leave(this.#neighbour)
  }

  #add(flight: Flight, crashes: number): void {
    const marking = { flight, crashes }
    this.#marking += 1
    this.#unsent.add(marking)
    void this.#batcher.add(marking)
  }

  async #mark(all: Marking[]): Promise<void[]> {
    const { clock, telemetry, pool } = this.#parts
    const delay = new RetryDelay(clock)
    this.#letGoClosed()
    const sent = all.filter((marking) => this.#unsent.delete(marking))
    for (let rest = this.#ours(sent); rest.length > 0; rest = this.#ours(rest)) {
      try {
        await this.#markOnce(rest)
        break
      } catch (error) {
        telemetry.emit('work.failed', { pool, error, retryInMs: delay.nextMs })
        await delay.wait(this.#over.signal)
      }
    }
    if (this.#marking === 0) for (const wake of this.#waiters) wake()
    this.#parts.solitude.look()
    this.#parts.wake()
    return []
  }

  /** Lets go what a limit or a pause closes that was set while it waited to be sent, the last first. [X47] */
  #letGoClosed(): void {
    for (const marking of [...this.#unsent].toReversed()) {
      if (this.#parts.isOpen(marking.flight)) continue
      this.#unsent.delete(marking)
      this.#marking -= 1
      this.#giveUp(marking.flight)
    }
  }

  /** Those that may still start; the others are let go. [X47] */
  #ours(all: Marking[]): Marking[] {
    return all.filter(({ flight }) => {
      if (this.#mayStart(flight)) return true
      this.#marking -= 1
      this.#giveUp(flight)
      return false
    })
  }

  async #markOnce(markings: Marking[]): Promise<void> {
    const { entries, pool, telemetry, ownership, steps } = this.#parts
    const claim = claimOf(markings.map(({ flight }) => flight))
    const marks = markings.map(({ flight: { taken }, crashes }) => {
      return { key: taken.key, slot: taken.slot, turn: taken.turn, crashes }
    })
    const answers = await entries.mark(pool, marks, claim)
    // What was not sent would take the places of what was.
    this.#letGoClosed()
    const refused = new Set<number>()
    for (const [index, { flight, crashes }] of markings.entries()) {
      const answer = answers[index] as MarkAnswer
      if (answer.result === 'refused') refused.add(flight.fence.partition)
      this.#marking -= 1
      if (answer.result === 'marked') this.#suspicion.marked(flight.taken, crashes)
      else steps.unmarked(flight, answer.result)
      this.#answered(flight, answer)
    }
    if (refused.size === 0) return
    ownership.lose(claim, [...refused])
    const runs = answers.filter(({ result }) => result === 'refused').length
    telemetry.emit('fence.refused', { resource: poolResource(pool), partitions: refused.size, runs })
  }

  #answered(flight: Flight, { result, nextDueAt }: MarkAnswer): void {
    if (result === 'gone') this.#gone(flight, nextDueAt)
    else if (result === 'marked') this.#start(flight)
    else this.#giveUp(flight)
  }

  #start(flight: Flight): void {
    if (this.#cancelled.has(flight)) this.#gone(flight, null)
    else if (this.#mayStart(flight) && this.#parts.start(flight)) this.#charged.delete(flight)
    else this.#giveUp(flight)
  }

  #gone(flight: Flight, nextDueAt: number | null): void {
    this.#unstarted(flight)
    this.#parts.gone(flight, nextDueAt)
    this.done(flight)
  }

  #mayStart({ fence }: Flight): boolean {
    return !this.#over.signal.aborted && this.#parts.ownership.mayStart(fence)
  }

  #giveUp(flight: Flight): void {
    this.#unstarted(flight)
    this.#parts.letGo(flight)
    this.done(flight)
  }

  #unstarted(flight: Flight): void {
    if (this.#charged.delete(flight)) this.#suspicion.unstarted(flight.fence, flight.lane)
  }
}
