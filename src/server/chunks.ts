// Reads a request chunk by chunk, only when asked: what is not asked for stays in the socket, and the sender
// waits. Can be stopped from outside while it waits.
import type { IncomingMessage } from 'node:http'

export class Chunks {
  readonly #request: IncomingMessage
  #wake: (() => void) | null = null
  #stopped = false

  constructor(request: IncomingMessage) {
    this.#request = request
    const wake = (): void => this.#wake?.()
    request.on('readable', wake).once('end', wake).once('close', wake).on('error', wake)
  }

  /** The next bytes; null when there are no more, or the reader was stopped. */
  async next(): Promise<Buffer | null> {
    while (!this.#stopped) {
      const chunk = this.#request.read() as Buffer | null
      if (chunk !== null) return chunk
      if (this.#request.readableEnded || this.#request.destroyed) return null
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = null
    }
    return null
  }

  /** Lets a reader that waits go; it reads no more. */
  stop(): void {
    this.#stopped = true
    this.#wake?.()
  }
}
