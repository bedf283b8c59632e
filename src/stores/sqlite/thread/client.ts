// The side of those who use the store: every call of its ports goes to the other side, and is answered from there.
import { HeadraceError, messageOf } from '../../../errors.ts'
import { Listeners } from '../../../listeners.ts'
import type { Hint, Store } from '../../../store.ts'
import type { Emitter, TelemetryEvents, TelemetryName } from '../../../telemetry.ts'
import { PACKINGS } from './pack.ts'
import { type Call, type Message, PORTS, type PortName, type Ports, fromWire } from './messages.ts'

export interface ClientParts {
  /** What the store is called in errors. */
  name: string
  telemetry: Emitter
  post(call: Call): void
  /** Called when somebody begins to wait for an answer, and when nobody does any more. */
  waits(anybody: boolean): void
}

interface Waiting {
  resolve(answer: unknown): void
  reject(error: unknown): void
}

type Opened = Extract<Message, { kind: 'opened' }>

/** The number that the opening has among the calls. */
const OPENING = 0

export class StoreClient {
  readonly #parts: ClientParts
  readonly #hints: Listeners<[Hint]>
  readonly #opened: Promise<unknown>
  readonly #waiting = new Map<number, Waiting>()
  #calls = OPENING
  /** Why nothing can be asked any more; null: the other side is there. */
  #ended: Error | null = null

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.#hints = new Listeners((error) => parts.telemetry.emit('listener.failed', { error }))
    this.#opened = this.#wait(OPENING)
  }

  /** Whether the other side is gone. */
  get hasEnded(): boolean {
    return this.#ended !== null
  }

  /** The store, once the other side has opened it. */
  async store(): Promise<Store> {
    const { address, putsAtOnce } = (await this.#opened) as Opened
    const { entries, browse, dead, progress, control, store, ...ports } = this.#ports()
    return {
      address,
      pool: { entries, browse, dead, progress, control, putsAtOnce },
      ...ports,
      arrivals: null,
      pulse: (request) => store.pulse(request),
      inspect: () => store.inspect(),
      watch: (listener) => this.#hints.add(listener),
      close: () => store.close(),
    }
  }

  /** A message of the other side. */
  receive(message: Message): void {
    switch (message.kind) {
      case 'answered':
        return this.#answered(message.id)?.resolve(message.answer)
      case 'failed':
        return this.#answered(message.id)?.reject(fromWire(message.error))
      case 'opened':
        return this.#answered(OPENING)?.resolve(message)
      case 'refused':
        return this.#refused(fromWire(message.error))
      case 'hint':
        return this.#hints.tell(message.hint)
      case 'emitted':
        return this.#emit(message)
    }
  }

  /** The other side is gone, by a defect if there is a cause. Open calls and later ones fail with this error. */
  end(cause?: unknown): void {
    if (this.#ended !== null) return
    const { name, telemetry } = this.#parts
    const why = cause === undefined ? 'has ended' : `failed: ${messageOf(cause)}`
    const remedy = 'restart the process: nothing that was answered is lost'
    this.#ended = new HeadraceError('store_failed', `${name}: the thread of the store ${why}`, {
      cause,
      remedy,
    })
    if (cause !== undefined) telemetry.emit('store.lost', { error: this.#ended })
    for (const waiting of this.#waiting.values()) waiting.reject(this.#ended)
    this.#waiting.clear()
  }

  #ports(): Ports {
    const port = (name: PortName): [string, unknown] => {
      const methods = Object.keys(PORTS[name]).map((method) => [method, this.#method(name, method)] as const)
      return [name, Object.fromEntries(methods)]
    }
    return Object.fromEntries(Object.keys(PORTS).map((name) => port(name as PortName))) as unknown as Ports
  }

  #method(port: PortName, method: string): (...args: unknown[]) => Promise<unknown> {
    const { packArgs, unpackAnswer } = PACKINGS[`${port}.${method}`] ?? {}
    const call = (args: unknown[]): Promise<unknown> => this.#call(port, method, packArgs?.(args) ?? args)
    return unpackAnswer === undefined
      ? (...args) => call(args)
      : async (...args) => unpackAnswer(await call(args))
  }

  #call(port: PortName, method: string, args: unknown[]): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    this.#calls += 1
    try {
      this.#parts.post({ id: this.#calls, port, method, args })
    } catch (error) {
      // Something in it cannot be copied.
      return Promise.reject(error)
    }
    return this.#wait(this.#calls)
  }

  #wait(id: number): Promise<unknown> {
    if (this.#waiting.size === 0) this.#parts.waits(true)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #answered(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#parts.waits(false)
    return waiting
  }

  #refused(error: Error): void {
    this.#ended = error
    this.#answered(OPENING)?.reject(error)
  }

  #emit({ name, payload, error }: Extract<Message, { kind: 'emitted' }>): void {
    const sent = error === undefined ? payload : { ...payload, error: fromWire(error) }
    this.#parts.telemetry.emit(name, sent as TelemetryEvents[TelemetryName])
  }
}
