// Writes to a response no faster than its reader reads.
import type { ServerResponse } from 'node:http'

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
