// SIGTERM and SIGINT of the process, for a race that is asked to stop on them; and a warning where nobody listens, since a run
// that was under way in three kills is dead.
import type { Clock, Timer } from './clock.ts'
import type { Emitter } from './telemetry.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
type Signal = (typeof SIGNALS)[number]

/** A program that listens itself may begin to after its start: so long after it the warning comes. */
const WARN_AFTER_MS = 5000

/** What a stopped race leaves behind keeps the process for so long; then the signal does what it does by default. */
const LINGER_MS = 1000

export interface SignalsParts {
  /** Null: not said. */
  asked: boolean | null
  clock: Clock
  telemetry: Emitter
}

export interface Listening {
  stop: () => Promise<void>
  /** The pools that are worked on. */
  pools: () => string[]
}

export class Signals {
  readonly #parts: SignalsParts
  #warning: Timer | null = null
  #stopListening: () => void = () => undefined

  constructor(parts: SignalsParts) {
    this.#parts = parts
  }

  /** From a start on. */
  listen({ stop, pools }: Listening): void {
    const { asked, clock, telemetry } = this.#parts
    if (asked === true) this.#listen(stop)
    if (asked !== null) return
    const warn = (): void => {
      if (process.listenerCount('SIGTERM') > 0 || pools().length === 0) return
      telemetry.emit('signals.missing', { pools: pools() })
    }
    this.#warning = clock.timer(WARN_AFTER_MS, warn, { background: true })
  }

  /** The race has stopped. */
  close(): void {
    this.#warning?.cancel()
    this.#stopListening()
  }

  #listen(stop: () => Promise<void>): void {
    let isStopping = false
    const receive = (signal: Signal): void => {
      if (isStopping) {
        this.#stopListening()
        process.kill(process.pid, signal)
        return
      }
      isStopping = true
      // A stop that fails is an unhandled rejection, which ends the process with its reason.
      void stop().finally(() => this.#endSoon(signal))
    }
    for (const signal of SIGNALS) process.on(signal, receive)
    this.#stopListening = () => {
      for (const signal of SIGNALS) process.off(signal, receive)
    }
  }

  /** A process that has nothing left to do ends by itself, with code 0. Others that listen to the signal see to their own end. */
  #endSoon(signal: Signal): void {
    const raise = (): void => {
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
    }
    this.#parts.clock.timer(LINGER_MS, raise, { background: true })
  }
}
