// Gathers bytes that come in pieces into one growing buffer: a piece of a byte costs hundreds of bytes while it is kept by
// itself, so none is kept. And reads the whole body of a request that way, within its bounds.
import type { IncomingMessage } from 'node:http'
import type { HeadraceError } from '../errors.ts'
import { LARGEST_BODY_BYTES, bodyTooLarge, bodyTooSplit, toClientError } from './problem.ts'

const FIRST_BYTES = 4096
/** A body of the largest size may come in pieces of 16 bytes on average. */
export const MOST_PIECES = 65_536

export class Gathered {
  #buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, length, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    piece.copy(this.#buffer, this.#length)
    this.#length = length
  }

  /** All that was added, and begins again with nothing. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
    return all
  }
}

/** Calls back once, with the whole body or with why it is not read. */
export function readBody(
  request: IncomingMessage,
  done: (error: HeadraceError | Error | null, body?: Buffer) => void,
): void {
  const said = Number(request.headers['content-length'] ?? Number.NaN)
  if (said > LARGEST_BODY_BYTES) {
    done(bodyTooLarge())
    return
  }
  const gathered = new Gathered()
  let pieces = 0
  const end = (error: Error | null, body?: Buffer): void => {
    request.off('data', onData).off('end', onEnd).off('error', onError)
    done(error, body)
  }
  const onData = (piece: Buffer): void => {
    pieces += 1
    if (gathered.length + piece.length > LARGEST_BODY_BYTES) end(bodyTooLarge())
    else if (pieces > MOST_PIECES) end(bodyTooSplit(MOST_PIECES))
    else gathered.add(piece)
  }
  const onEnd = (): void => end(null, gathered.take())
  const onError = (error: Error): void => end(toClientError(error as { code?: string }))
  request.on('data', onData).on('end', onEnd).on('error', onError)
}
