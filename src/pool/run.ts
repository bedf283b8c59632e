// A run as its handler sees it: what to do, and under which circumstances.
import type { Held } from '../fence.ts'
import type { Answer } from './answer.ts'
import type { Lane, TakenRun } from './entry.ts'

/** What is to be done. */
export interface Run<Payload = unknown> {
  readonly key: string
  /** The moment that was asked for, in mode `each`; null in mode `one`. */
  readonly at: Date | null
  readonly dueAt: Date
  /** What the latest put carried; undefined: nothing. */
  readonly payload: Payload
  /** How many puts this run stands for; 0: the handler asked for it itself, with `again`. */
  readonly tally: number
}

/** How it is done this time. */
export interface RunContext {
  /** Fires when the run should end early; its `reason` is a `RunAborted`. */
  readonly signal: AbortSignal
  /** 1 at first, one more after every failure. */
  readonly attempt: number
  /** From the due time to the take, by the store's clock. */
  readonly latenessMs: number
  /** Under which right this run is made: refuse effects of a lower epoch of the same partition. */
  readonly fence: Held
}

/** Does the work of one run. Returning nothing means that it is done, throwing that it failed. */
export type Handler<Payload = unknown> = (
  run: Run<Payload>,
  ctx: RunContext,
) => Answer | void | PromiseLike<Answer | void>

/** `stop`: the member stops. `timeout`: it took too long. `lost`: another member has the partition, or may have it. */
export type AbortCause = 'stop' | 'timeout' | 'lost'

const MESSAGES: Record<AbortCause, string> = {
  stop: 'the member stops',
  timeout: 'the run took longer than its timeout',
  lost: 'the partition is, or may be, another member’s',
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
  readonly latenessMs: number
  /** When it was taken, its handler was called, and ended, by the monotonic clock. */
  readonly takenAt: number
  startedAt: number
  endedAt: number
  /** Null: its handler was not called yet. */
  context: StartedContext | null
  /** It was given up at a stop: whatever becomes of it concerns nobody. */
  isAbandoned: boolean
}

/** Payloads are read when somebody asks for them. */
export class StartedRun<Payload> implements Run<Payload> {
  readonly #taken: TakenRun
  readonly key: string
  readonly tally: number
  #payload: { value: Payload } | null = null

  constructor(taken: TakenRun) {
    this.#taken = taken
    this.key = taken.key
    this.tally = taken.seen
  }

  get at(): Date | null {
    return this.#taken.slot === null ? null : new Date(this.#taken.slot)
  }

  get dueAt(): Date {
    return new Date(this.#taken.dueAt)
  }

  get payload(): Payload {
    const { payload } = this.#taken
    this.#payload ??= { value: (payload === null ? undefined : JSON.parse(payload)) as Payload }
    return this.#payload.value
  }
}

/** A signal is made when somebody asks for it: most handlers that end at once never do. */
export class StartedContext implements RunContext {
  readonly attempt: number
  readonly latenessMs: number
  readonly fence: Held
  #controller: AbortController | null = null
  #why: AbortCause | null = null

  constructor({ taken, fence, latenessMs }: Pick<Flight, 'taken' | 'fence' | 'latenessMs'>) {
    this.attempt = taken.attempt + 1
    this.latenessMs = latenessMs
    this.fence = fence
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#why !== null) this.#controller.abort(new RunAborted(this.#why))
    }
    return this.#controller.signal
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
