// The life of a thing that runs: start once, stop once, whatever the order and number of the calls.
import { HeadraceError } from './errors.ts'

export type ServiceState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped' | 'failed'

export interface ServiceParts {
  name: string
  /** Opens what it needs; when it throws, the service is `failed` and may be started again. */
  start(): Promise<void>
  /** Drains and closes. Called at most once per successful or half-done start. */
  stop(): Promise<void>
}

export class Service {
  readonly name: string
  readonly #parts: ServiceParts
  #state: ServiceState = 'new'
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(parts: ServiceParts) {
    this.name = parts.name
    this.#parts = parts
  }

  get state(): ServiceState {
    return this.#state
  }

  /** Starts once; later calls share the first one's promise. A stopped service does not start again. */
  start(): Promise<void> {
    if (this.#stopping !== null)
      return Promise.reject(
        new HeadraceError('not_running', `${this.name} is stopped and does not start again`, {
          remedy: 'create another one',
        }),
      )
    this.#starting ??= this.#begin()
    return this.#starting
  }

  /** Stops once, after a start under way has ended. Never started: nothing to do. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end()
    return this.#stopping
  }

  /** What runs ended by itself and for good. A stop still cleans up. */
  fail(): void {
    if (this.#state === 'starting' || this.#state === 'running') this.#state = 'failed'
  }

  async #begin(): Promise<void> {
    this.#state = 'starting'
    try {
      await this.#parts.start()
      if (this.state === 'starting') this.#state = 'running'
    } catch (error) {
      this.#state = 'failed'
      this.#starting = null
      throw error
    }
  }

  async #end(): Promise<void> {
    const started = this.#starting
    if (started === null) {
      this.#state = 'stopped'
      return
    }
    await started.catch(() => undefined)
    this.#state = 'stopping'
    try {
      await this.#parts.stop()
      this.#state = 'stopped'
    } catch (error) {
      this.#state = 'failed'
      throw error
    }
  }
}
