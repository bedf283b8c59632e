// The servers of a race that are open: where each answers, and how each is closed before the race stops. Knows nothing of
// HTTP.

/** Closes one server; closing it again waits for the same end. */
export type Close = () => Promise<void>

export class OpenServers {
  readonly #reachAt: (address: string | null) => void
  /** Where each answers, the latest last; null: it is closing. */
  readonly #addresses = new Map<Close, string | null>()

  constructor(reachAt: (address: string | null) => void) {
    this.#reachAt = reachAt
  }

  /** Adds a server that answers at this address from now on; answers what closes it. */
  add(address: string, end: Close): Close {
    let closing: Promise<void> | null = null
    const close: Close = () => (closing ??= this.#close(close, end))
    this.#addresses.set(close, address)
    this.#report()
    return close
  }

  /** Closes all. A caller that closes one by itself gets its error; here what comes after must go on. */
  async close(): Promise<void> {
    while (this.#addresses.size > 0) {
      await Promise.allSettled([...this.#addresses.keys()].map((close) => close()))
    }
  }

  async #close(close: Close, end: Close): Promise<void> {
    this.#addresses.set(close, null)
    this.#report()
    try {
      await end()
    } finally {
      this.#addresses.delete(close)
    }
  }

  /** Of several servers the latest that still answers. [G5] */
  #report(): void {
    this.#reachAt([...this.#addresses.values()].findLast((address) => address !== null) ?? null)
  }
}
