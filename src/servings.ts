// What serves a race: where each answers, and how each is closed before the race stops. Knows nothing of HTTP.

/** Closes one; closing it again waits for the same end. */
export type Close = () => Promise<void>

export class Servings {
  readonly #reachAt: (address: string | null) => void
  /** Where each answers, the latest last; null: it is closing. */
  readonly #addresses = new Map<Close, string | null>()

  constructor(reachAt: (address: string | null) => void) {
    this.#reachAt = reachAt
  }

  /** One that answers at this address from now on; answers what closes it. */
  add(address: string, end: Close): Close {
    let closing: Promise<void> | null = null
    const close: Close = () => (closing ??= this.#close(close, end))
    this.#addresses.set(close, address)
    this.#tell()
    return close
  }

  /** Closes all. Who closes one by itself learns how that failed; here what comes after must go on. */
  async close(): Promise<void> {
    while (this.#addresses.size > 0) {
      await Promise.allSettled([...this.#addresses.keys()].map((close) => close()))
    }
  }

  async #close(close: Close, end: Close): Promise<void> {
    this.#addresses.set(close, null)
    this.#tell()
    try {
      await end()
    } finally {
      this.#addresses.delete(close)
    }
  }

  /** Of several the latest that still answers. [G5] */
  #tell(): void {
    this.#reachAt([...this.#addresses.values()].findLast((address) => address !== null) ?? null)
  }
}
