// What happened in a run, in order: as text for people, and as a hash by which two runs of one seed are compared.
import { createHash } from 'node:crypto'

/** Lines that are kept for people; the hash is of all. */
const KEPT = 200_000
/** So many characters are hashed at a time, for speed. */
const CHUNK = 16_384

export class Trace {
  readonly #hash = createHash('sha256')
  readonly lines: string[] = []
  readonly #now: () => number
  #unhashed = ''

  constructor(now: () => number) {
    this.#now = now
  }

  note(who: string, what: string): void {
    const line = `${this.#now().toFixed(0).padStart(7)} ${who.padEnd(6)} ${what}`
    this.#unhashed += `${line}\n`
    if (this.#unhashed.length > CHUNK) this.#flush()
    if (this.lines.length < KEPT) this.lines.push(line)
  }

  #flush(): void {
    this.#hash.update(this.#unhashed)
    this.#unhashed = ''
  }

  /** To be called once, at the end. */
  digest(): string {
    this.#flush()
    return this.#hash.digest('hex').slice(0, 16)
  }
}
