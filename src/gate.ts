// What calls go through while they may: a closed gate lets those under way end, and refuses new ones.
import { HeadraceError } from './errors.ts'

export class Gate {
  #passing = 0
  #isClosed = false
  #lastHasLeft: () => void = () => undefined
  #closing: Promise<void> | null = null

  /** Runs the call, or refuses it with `not_running`. A call inside the call must not pass again. */
  async pass<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    this.enter()
    try {
      return await call()
    } finally {
      this.leave()
    }
  }

  /** Begins a call, or refuses it; whoever entered must leave. */
  enter(): void {
    if (this.#isClosed) throw notRunning()
    this.#passing += 1
  }

  leave(): void {
    this.#passing -= 1
    if (this.#passing === 0) this.#lastHasLeft()
  }

  /** Refuses new calls from now on; resolves when none is under way. Harmless when repeated. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#closing ??= new Promise((resolve) => {
      this.#lastHasLeft = resolve
      if (this.#passing === 0) resolve()
    })
    return this.#closing
  }
}

function notRunning(): HeadraceError {
  return new HeadraceError('not_running', 'this Headrace was stopped', {
    remedy: 'open another one with headrace()',
  })
}
