// The end of a server: no new connections, every request under way is answered, then connections close.
// What streams (SSE, NDJSON) listens to the signal and ends by itself.
import type { Server as HttpServer } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Clock } from '../clock.ts'

/**
 * How long a keep-alive connection may stay silent once the drain began. A request that is on its way when
 * the drain begins is answered (with `connection: close`) instead of being met by a closed socket.
 */
const SILENCE_MS = 300
const LOOK_MS = 50
/**
 * Connections that the kernel has made wait in its backlog, and would be reset if listening ended; they are
 * taken until none came for a moment, or for long enough when they never stop coming.
 */
const QUIET_MS = 10
const BACKLOG_WITHIN_MS = 250

export class Drain {
  readonly #clock: Clock
  readonly #stop = new AbortController()
  readonly #sockets = new Set<Socket>()
  readonly #streams = new WeakSet<Socket>()
  #accepted = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get draining(): boolean {
    return this.#stop.signal.aborted
  }

  /** Fires when the drain begins. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  watch(server: HttpServer): void {
    server.on('connection', (socket) => {
      this.#accepted += 1
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Marks a connection whose request may take as long as it likes. */
  exempt(socket: Socket): () => void {
    this.#streams.add(socket)
    return () => void this.#streams.delete(socket)
  }

  isExempt(socket: Socket): boolean {
    return this.#streams.has(socket)
  }

  /** Ends the server, after `withinMs` at the latest. */
  async end(server: HttpServer, withinMs: number): Promise<void> {
    if (this.draining) return
    this.#stop.abort()
    await this.#emptyBacklog(Math.min(BACKLOG_WITHIN_MS, withinMs))
    const ended = new AbortController()
    const closed = new Promise<void>((resolve) => {
      // The close of http.Server would cut idle connections at once, among them those whose next request is
      // already on its way; the one of net.Server only stops listening. In Bun an http.Server is no net.Server.
      if (server instanceof NetServer) NetServer.prototype.close.call(server, () => resolve())
      else (server as HttpServer).close(() => resolve())
    }).then(() => ended.abort())
    await this.#closeSilent(server, withinMs, ended.signal)
    server.closeAllConnections()
    await closed
  }

  async #emptyBacklog(withinMs: number): Promise<void> {
    const deadline = this.#clock.mono() + withinMs
    let before = -1
    while (before !== this.#accepted && this.#clock.mono() < deadline) {
      before = this.#accepted
      await this.#clock.sleep(QUIET_MS)
      // On a busy machine a timer comes before the connections that wait; they are taken in the same turn.
      await new Promise<void>((resolve) => this.#clock.turn(resolve))
    }
  }

  async #closeSilent(server: HttpServer, withinMs: number, ended: AbortSignal): Promise<void> {
    const deadline = this.#clock.mono() + withinMs
    await this.#clock.sleep(Math.min(SILENCE_MS, withinMs), ended)
    while (!ended.aborted && this.#clock.mono() < deadline) {
      // In a turn of its own, so that bytes which have arrived are read before silence is judged.
      await new Promise<void>((resolve) => this.#clock.turn(resolve))
      server.closeIdleConnections()
      for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
      await this.#clock.sleep(LOOK_MS, ended)
    }
  }
}
