// Writes to a response no faster than its reader reads.
import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'

const HEARTBEAT_MS = 15_000

export class Outlet {
  readonly #response: ServerResponse
  #wake: (() => void) | null = null

  constructor(response: ServerResponse) {
    this.#response = response
    const wake = (): void => this.#wake?.()
    response.on('drain', wake).once('close', wake).on('error', wake)
  }

  /** The reader is gone, or the response has ended. */
  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  /** The reader has not yet read what was written. */
  get full(): boolean {
    return !this.closed && this.#response.writableNeedDrain
  }

  /** Writes, and waits while the reader has too much to read. Writes nothing once it is gone. */
  async write(text: string): Promise<void> {
    if (this.closed || text === '') return
    if (!this.#response.write(text)) await this.#drained()
  }

  async #drained(): Promise<void> {
    while (this.full) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = null
    }
  }
}

/** A comment every 15 seconds shows both sides of a stream that the other lives; two that find no reader cut it. */
export function keepAlive(
  response: Pick<ServerResponse, 'write' | 'destroy'>,
  outlet: Pick<Outlet, 'closed' | 'full'>,
  clock: Pick<Clock, 'timer'>,
): () => void {
  let stuck = false
  const beat = (): void => {
    if (outlet.full && stuck) response.destroy()
    stuck = outlet.full
    if (!stuck && !outlet.closed) response.write(': \n\n')
    timer = clock.timer(HEARTBEAT_MS, beat, { background: true })
  }
  let timer = clock.timer(HEARTBEAT_MS, beat, { background: true })
  return () => timer.cancel()
}
