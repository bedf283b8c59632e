// What happened in a run, in order: as text for people, and as a hash by which two runs of one seed are compared.
import { createHash } from 'node:crypto'

/** Lines that are kept for people; the hash is of all. */
const KEPT = 200_000

export class Trace {
  readonly #hash = createHash('sha256')
  readonly lines: string[] = []
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  note(who: string, what: string): void {
    const line = `${this.#now().toFixed(0).padStart(7)} ${who.padEnd(6)} ${what}`
    this.#hash.update(line).update('\n')
    if (this.lines.length < KEPT) this.lines.push(line)
  }

  /** To be called once, at the end. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }
}
