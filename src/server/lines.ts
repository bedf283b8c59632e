// Splits a stream of bytes into lines of text. Pure; a line that is too long or no UTF-8 becomes an error of
// its own and costs its neighbours nothing.
import { isUtf8 } from 'node:buffer'
import { Gathered } from './gather.ts'

export const LONGEST_LINE_BYTES = 64 * 1024

export interface Line {
  /** Counted from 1, blank lines included. */
  number: number
  /** Null: it could not be read, and `flaw` says why. */
  text: string | null
  flaw: 'too-long' | 'not-utf8' | null
}

const NEWLINE = 0x0a

export class LineSplitter {
  readonly #rest = new Gathered()
  #skipping = false
  #count = 0

  /** The number of the line that comes next. */
  get next(): number {
    return this.#count + 1
  }

  /** The lines that end in this chunk. */
  push(chunk: Buffer): Line[] {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end === -1) {
      this.#keep(chunk)
      return []
    }
    const lines = this.#split(this.#joined(chunk.subarray(0, end)))
    this.#keep(chunk.subarray(end + 1))
    return lines
  }

  /** The last line, if the stream did not end with a newline. */
  end(): Line[] {
    return this.#rest.length > 0 || this.#skipping ? this.#split(this.#joined(Buffer.alloc(0))) : []
  }

  /** Holds back what has no newline yet; of a line that is too long only the fact is kept. */
  #keep(part: Buffer): void {
    if (part.length === 0 || this.#skipping) return
    if (this.#rest.length + part.length <= LONGEST_LINE_BYTES) {
      this.#rest.add(part)
      return
    }
    this.#rest.take()
    this.#skipping = true
  }

  #joined(part: Buffer): Buffer {
    return this.#rest.length === 0 ? part : Buffer.concat([this.#rest.take(), part])
  }

  #split(bytes: Buffer): Line[] {
    const whole = isUtf8(bytes)
    // Decoding many lines at once is several times faster than one by one.
    const texts = bytes.toString(whole ? 'utf8' : 'latin1').split('\n')
    const skipped = this.#skipping
    this.#skipping = false
    return texts.map((text, index) => {
      this.#count += 1
      if (skipped && index === 0) return { number: this.#count, text: null, flaw: 'too-long' }
      return whole ? wellFormed(text, this.#count) : decoded(Buffer.from(text, 'latin1'), this.#count)
    })
  }
}

function wellFormed(text: string, number: number): Line {
  // A UTF-16 unit takes one to three bytes, so most lines need not be measured.
  const fits = text.length * 3 <= LONGEST_LINE_BYTES || Buffer.byteLength(text) <= LONGEST_LINE_BYTES
  return fits ? { number, text, flaw: null } : { number, text: null, flaw: 'too-long' }
}

function decoded(bytes: Buffer, number: number): Line {
  if (bytes.length > LONGEST_LINE_BYTES) return { number, text: null, flaw: 'too-long' }
  if (!isUtf8(bytes)) return { number, text: null, flaw: 'not-utf8' }
  return { number, text: bytes.toString('utf8'), flaw: null }
}
