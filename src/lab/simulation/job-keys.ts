// What takes of one worker answered and has not started, by key, as it is known from outside: runs that wait behind another
// of their key start in due order, and what was cancelled does not start. Rules [X20] and [X24] of docs/spec/work.md.
import { type Entry, type Lane, type TakenRun, entryName } from '../../pool/entry.ts'
import { type Made, turnOf, whyOf } from './made.ts'

/** A run that a take answered. */
export interface Mark {
  readonly taken: TakenRun
  readonly lane: Lane
  /** The number of raises when its take was sent. */
  readonly askedAt: number
  /** By the member's monotonic clock. */
  readonly answeredAt: number
  /** The one before it in the same answer that is of the same key and partition. */
  readonly earlier: Mark | null
  isCancelled: boolean
}

export class JobKeys {
  readonly #unstarted = new Map<string, Set<Mark>>()
  /** Those that wait behind the last run of their key. */
  readonly #behind = new Map<string, Mark[]>()
  /** The turns of which something was cancelled that had been taken. */
  readonly #cancelled = new Set<string>()
  /** The keys that this life has asked to cancel. */
  readonly #asked = new Set<string>()

  add(mark: Mark): void {
    const { key } = mark.taken
    const marks = this.#unstarted.get(key)
    if (marks === undefined) this.#unstarted.set(key, new Set([mark]))
    else marks.add(mark)
  }

  /** It was answered while another of its key was in flight. */
  putBehind(mark: Mark): void {
    const behind = this.#behind.get(mark.taken.key) ?? []
    if (behind.every(({ taken }) => turnOf(taken) !== turnOf(mark.taken))) behind.push(mark)
    this.#behind.set(mark.taken.key, behind)
  }

  /**
   * A run starts, after another of its key or none; answers what is wrong with it, or null. One that has waited for a handler
   * says nothing of others: what waits may be let go meanwhile, with all that is behind it.
   */
  start(mark: Mark, last: Made | undefined, now: number): string | null {
    const { key, partition, dueAt } = mark.taken
    this.#without(mark.taken)
    const behind = this.#behind.get(key) ?? []
    const isInRow = last?.overAt === now && wasFollowed(last) && mark.answeredAt < now
    this.#behind.set(key, isInRow ? behind.filter(({ taken }) => turnOf(taken) !== turnOf(mark.taken)) : [])
    if (mark.isCancelled) return '[X24] and it was cancelled when it had been taken'
    const first = behind.find(
      ({ taken }) => !this.isCancelled(taken) && taken.partition === partition && taken.dueAt < dueAt,
    )
    return isInRow && first !== undefined
      ? `[X20] and turn ${first.taken.turn} waits behind its key, and is due before it`
      : null
  }

  /** Entries of a key are to be cancelled; what is answered is called when they were. */
  cancelling({ key, slot }: { key: string; slot?: number | null }, now: number): () => void {
    this.#asked.add(key)
    const meant = [...(this.#unstarted.get(key) ?? [])].filter(
      ({ taken, answeredAt }) =>
        answeredAt < now && (slot === undefined || entryName(key, slot) === entryName(key, taken.slot)),
    )
    return () => {
      for (const mark of meant) {
        mark.isCancelled = true
        this.#cancelled.add(turnOf(mark.taken))
      }
    }
  }

  /** Whether a signal that is fired by a cancel of a key may be fired by one that this life asked for. */
  wasAsked(key: string): boolean {
    return this.#asked.has(key)
  }

  /** An entry is looked up: what was taken of it before, and has not started, is gone if it has another turn, or none. */
  async lookUp(
    { key, slot }: { key: string; slot: number | null },
    look: () => Promise<Entry | null>,
    gone: (taken: TakenRun) => void,
  ): Promise<Entry | null> {
    const marks = [...(this.#unstarted.get(key) ?? [])].filter(({ taken }) => taken.slot === slot)
    const entry = await look()
    for (const { taken } of marks) {
      if (taken.turn === entry?.turn) continue
      this.#cancelled.add(turnOf(taken))
      gone(taken)
    }
    return entry
  }

  /** Whether a turn was cancelled that had been taken, whichever take of it is meant. */
  isCancelled(taken: TakenRun): boolean {
    return this.#cancelled.has(turnOf(taken))
  }

  /** A turn is known to be gone, or to be settled without a start. */
  gone(taken: TakenRun): void {
    this.#without(taken)
    const behind = this.#behind.get(taken.key) ?? []
    this.#behind.set(
      taken.key,
      behind.filter((mark) => turnOf(mark.taken) !== turnOf(taken)),
    )
  }

  /** What was taken of a turn and has not started. */
  unstarted({ key, slot, turn }: { key: string; slot: number | null; turn: number }): Mark[] {
    const marks = this.#unstarted.get(key) ?? []
    return [...marks].filter(({ taken }) => taken.turn === turn && taken.slot === slot)
  }

  /** How many runs of a lane may be in flight: taken and not started, or started and not over. */
  inFlight(lane: Lane, started: Iterable<Made>): number {
    const turns = new Set<string>()
    for (const mark of this.all()) if (mark.lane === lane) turns.add(turnOf(mark.taken))
    for (const { overAt, taken } of started) if (overAt === Infinity) turns.add(turnOf(taken))
    return turns.size
  }

  /** All that was taken and has not started. */
  *all(): Generator<Mark> {
    for (const marks of this.#unstarted.values()) yield* marks
  }

  #without(run: TakenRun): void {
    const marks = this.#unstarted.get(run.key) ?? new Set()
    for (const mark of marks) if (turnOf(mark.taken) === turnOf(run)) marks.delete(mark)
  }
}

/** Whether what waits behind a run follows it: it is over, and neither it nor what is behind it was let go. */
function wasFollowed(made: Made): boolean {
  const why = whyOf(made)
  return (made.answer === 'settled' || made.answer === 'gone') && (why === null || why === 'timeout')
}
