// A run as its handler sees it: what to do, and under which circumstances.
import type { Held } from '../fence.ts'
import type { Answer } from './answer.ts'
import type { Lane, TakenRun } from './entry.ts'
import { type Log, type LogParts, logOf } from './run-log.ts'
import type { Outcome } from './settle.ts'

/** What is to be done. */
export interface Run<Payload = unknown> {
  readonly key: string
  /** The moment that was asked for, in mode `each`; null in mode `one`. */
  readonly at: Date | null
  readonly dueAt: Date
  /** What the latest put carried; undefined: nothing. */
  readonly payload: Payload
  /** What every put of the tally carried, in their order, in a pool that keeps all payloads; else none. */
  readonly payloads: readonly Payload[]
  /** How many puts this run stands for; 0: the handler asked for it itself, with `again`. */
  readonly tally: number
}

/** How it is done this time. `signal` and `log` are made when they are asked for: name them, a spread leaves them out. */
export interface RunContext {
  /** Fires when the run should end early; its `reason` is a `RunAborted`. */
  readonly signal: AbortSignal
  /** 1 at first, one more after every failure. */
  readonly attempt: number
  /** From the due time to the take, by the store's clock. */
  readonly latenessMs: number
  /** Under which right this run is made: refuse effects of a lower epoch of the same partition. */
  readonly fence: Held
  /** Tells something of this run, with its pool, key and attempt: by telemetry (`run.logged`), else on stderr. */
  readonly log: Log
  /**
   * Tells how far the run has come: anything JSON can hold, up to 16 KiB. The latest value is kept once a second, with the
   * entry, until the run ends.
   */
  progress(value: unknown): void
}

/** Does the work of one run. Returning nothing means that it is done, throwing that it failed. */
export type Handler<Payload = unknown> = (
  run: Run<Payload>,
  ctx: RunContext,
) => Answer | void | PromiseLike<Answer | void>

/**
 * `stop`: the member stops. `timeout`: it took too long. `lost`: another member has the partition, or may have it.
 * `cancel`: its entry was cancelled.
 */
export type AbortCause = 'stop' | 'timeout' | 'lost' | 'cancel'

const MESSAGES: Record<AbortCause, string> = {
  stop: 'the member stops',
  timeout: 'the run took longer than its timeout',
  lost: 'the partition is, or may be, another member’s',
  cancel: 'the entry was cancelled',
}

/** Why the signal of a run fired. */
export class RunAborted extends Error {
  override readonly name = 'RunAborted'
  readonly why: AbortCause

  constructor(why: AbortCause) {
    super(MESSAGES[why])
    this.why = why
  }
}

/** A run on its way from the take to the settle. */
export interface Flight {
  readonly taken: TakenRun
  readonly lane: Lane
  /** The id of the member that took it. */
  readonly owner: string
  readonly fence: Held
  latenessMs: number
  /** When it was taken, its handler was called, and ended, by the monotonic clock. */
  takenAt: number
  startedAt: number
  endedAt: number
  /** How many runs of its key were made before it without a pause, and since when, by the monotonic clock. */
  inARow: number
  rowSince: number
  /** Null: its handler was not called yet. */
  context: StartedContext | null
  /** What is to be written of it; null: it has not ended. */
  outcome: Outcome | null
  /** It was given up at a stop: whatever becomes of it concerns nobody. */
  isAbandoned: boolean
}

/** How many runs of a key are made in a row, and for how long, before others of its lane have their turn. [X21] */
const MOST_IN_A_ROW = 10
const LONGEST_ROW_MS = 1000

/** Since when runs of its key have been made without a pause, with this one as the last of them. */
export function rowSince(flight: Flight): number {
  return flight.inARow === 0 ? flight.startedAt : flight.rowSince
}

/** Whether it is the turn of others after this run of its key, at this time of the monotonic clock. */
export function endsRow(flight: Flight, now: number): boolean {
  // What never started begins no row.
  return flight.inARow + 1 >= MOST_IN_A_ROW || !(now - rowSince(flight) < LONGEST_ROW_MS)
}

/** A run that was taken at the store's time `now`. */
export function flightOf(
  taken: TakenRun,
  {
    lane,
    owner,
    fence,
    takenAt,
    now,
  }: Pick<Flight, 'lane' | 'owner' | 'fence' | 'takenAt'> & { now: number },
): Flight {
  return {
    taken,
    lane,
    owner,
    fence,
    latenessMs: now - taken.dueAt,
    takenAt,
    startedAt: Number.NaN,
    endedAt: Number.NaN,
    inARow: 0,
    rowSince: 0,
    context: null,
    outcome: null,
    isAbandoned: false,
  }
}

const NONE: readonly never[] = Object.freeze([])

/** Plain data, so that it may be copied and spread. */
export class StartedRun<Payload> implements Run<Payload> {
  readonly key: string
  readonly at: Date | null
  readonly dueAt: Date
  readonly payload: Payload
  readonly tally: number
  readonly payloads: readonly Payload[]

  constructor({ key, slot, dueAt, payload, payloads, seen }: TakenRun) {
    this.key = key
    this.at = slot === null ? null : new Date(slot)
    this.dueAt = new Date(dueAt)
    this.payload = (payload === null ? undefined : JSON.parse(payload)) as Payload
    this.payloads = payloads === undefined ? NONE : payloads.map((text) => JSON.parse(text) as Payload)
    this.tally = seen
  }
}

export interface ContextParts extends LogParts {
  /** What becomes of the progress that a run tells. */
  tell(flight: Flight, value: unknown): void
}

/** A signal is made when somebody asks for it: most handlers that end at once never do. */
export class StartedContext implements RunContext {
  readonly attempt: number
  readonly latenessMs: number
  readonly fence: Held
  readonly #flight: Flight
  readonly #parts: ContextParts
  #controller: AbortController | null = null
  #why: AbortCause | null = null

  constructor(flight: Flight, parts: ContextParts) {
    const { taken, fence, latenessMs } = flight
    this.attempt = taken.attempt + 1
    this.latenessMs = latenessMs
    this.fence = fence
    this.#flight = flight
    this.#parts = parts
  }

  progress(value: unknown): void {
    this.#parts.tell(this.#flight, value)
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#why !== null) this.#controller.abort(new RunAborted(this.#why))
    }
    return this.#controller.signal
  }

  get log(): Log {
    return logOf(this.#parts, this.#flight.taken)
  }

  /** Why it was aborted; null: it was not. */
  get why(): AbortCause | null {
    return this.#why
  }

  /** The first cause counts. */
  abort(why: AbortCause): void {
    if (this.#why !== null) return
    this.#why = why
    this.#controller?.abort(new RunAborted(why))
  }
}
