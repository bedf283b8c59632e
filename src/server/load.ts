// How much is asked of the server at once: what waits for a slow store is held in memory, and that has a bound. Without it
// one connection that sends requests and reads no answers would be enough to fill the memory.
import type { FastifyRequest } from 'fastify'
import type { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { HeadraceError } from '../errors.ts'
import { LARGEST_BODY_BYTES } from './problem.ts'

export interface LoadLimits {
  requests: number
  bytes: number
}

const LIMITS: LoadLimits = { requests: 10_000, bytes: 256 * 1024 * 1024 }

export class Load {
  readonly #limits: LoadLimits
  #requests = 0
  #bytes = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Counts a request until `raw`, its response, closes; refuses it while too much is under way. */
  begin({ headers }: Pick<FastifyRequest, 'headers'>, { raw }: { raw: EventEmitter }): void {
    const bytes = bytesOf(headers)
    this.#requests += 1
    this.#bytes += bytes
    raw.once('close', () => {
      this.#requests -= 1
      this.#bytes -= bytes
    })
    const { requests: most, bytes: mostBytes } = this.#limits
    if (this.#requests <= most && this.#bytes <= mostBytes) return
    const what = `${this.#requests - 1} requests with up to ${this.#bytes} bytes wait for their answers already`
    throw new HeadraceError('store_busy', what, { remedy: 'try again in a moment, and send fewer at once' })
  }
}

/** What a body may take; one that is streamed is never held as a whole. */
function bytesOf({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): number {
  if (length === undefined) return encoding === undefined ? 0 : LARGEST_BODY_BYTES
  return Math.min(Number(length), LARGEST_BODY_BYTES)
}
