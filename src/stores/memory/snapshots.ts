// A memory store that goes back to an earlier state, as a PostgreSQL store does when a lagging replica is promoted. For the
// simulation alone: no port has it. Rule [G6] of docs/spec/roster.md.

/** Takes the state of a part as it is; what is answered brings it back. Numbers of before stay below `least`. */
export type Keep = () => (least: number) => void

/** Turns, epochs, terms and tokens leap by so much: more than are given between a snapshot and the way back to it. */
const LEAP = 1_000_000

export class Snapshots {
  #parts: readonly Keep[] | null = null
  #times = 0

  /** What every pulse answers. */
  get generation(): string {
    return this.#times === 0 ? 'memory' : `memory ${this.#times + 1}`
  }

  /** No turn, epoch, term or token that was given in this generation is lower. */
  get least(): number {
    return this.#times * LEAP
  }

  /** The store that these snapshots are of was opened. */
  attach(parts: readonly Keep[]): void {
    this.#parts = parts
  }

  /** Takes all that the store holds; what is answered goes back to it. Null: the store has no snapshots. */
  take(): (() => void) | null {
    const kept = this.#parts?.map((keep) => keep()) ?? null
    if (kept === null) return null
    return () => {
      this.#times += 1
      for (const goBack of kept) goBack(this.least)
    }
  }
}

/** Takes a map whose values are never changed in place. */
export function keepMap<Key, Value>(map: Map<Key, Value>): () => void {
  const kept = [...map]
  return () => {
    map.clear()
    for (const [key, value] of kept) map.set(key, value)
  }
}
