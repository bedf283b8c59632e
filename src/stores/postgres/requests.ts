// Numbers for what this opening of the store sends, so that the server knows a repeat after a cut connection.

export class Requests {
  readonly #opening: string
  #last = 0

  /** The opening has an id that the server chose. */
  constructor(opening: string) {
    this.#opening = opening
  }

  next(): string {
    this.#last += 1
    return `${this.#opening}/${this.#last}`
  }
}

/** How long the server knows a request that had no id of its own. */
export const KEEP_MS = 600_000
