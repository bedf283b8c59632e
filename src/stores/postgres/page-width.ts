// How wide a page is: the range of due times that one statement reads. Entries that are gone but kept in the index by an old
// snapshot are read and not answered, so that no row limit bounds the read; the end of the page does.
// Pure: times come from outside. [Y16]

/** How long the server reads a page at most. */
export const PAGE_MS = 500
/** The most for a page that cannot be narrower; less than a call may take. */
const LONGEST_PAGE_MS = 4000
/** What is due within is read as one page, unless that took too long. */
const NEAR_MS = 10_000
const NARROWER = 8
const WIDER = 4
/** Of what is left: what is older than the rest is often nothing. */
const MOST_OF_THE_REST = 7 / 8

export class PageWidth {
  /** Infinity: nothing took too long. */
  #widthMs = Infinity
  #boundMs = PAGE_MS
  /** Whether a page took too long since the last that was read to the end. */
  #wasSlow = false

  /** How long the server may read the next page. */
  get boundMs(): number {
    return this.#boundMs
  }

  /** Where the page ends that begins there; null: it is the last. */
  end(from: number, now: number): number | null {
    const left = now - from
    if (this.#widthMs === Infinity || left <= Math.min(this.#widthMs, NEAR_MS)) return null
    return from + Math.max(1, Math.floor(Math.min(this.#widthMs, left * MOST_OF_THE_REST)))
  }

  /** A page that began there, and had this end, took too long. */
  tooLong(from: number, end: number | null, now: number): void {
    this.#wasSlow = true
    const widthMs = end === null ? Math.max(1, now - from) : end - from
    if (widthMs <= 1) this.#boundMs = Math.min(2 * this.#boundMs, LONGEST_PAGE_MS)
    const isFirst = this.#widthMs === Infinity
    this.#widthMs = Math.max(1, Math.floor(isFirst ? widthMs * MOST_OF_THE_REST : widthMs / NARROWER))
  }

  /** It was read. */
  read(from: number, end: number | null, tookMs: number): void {
    if (end === null) {
      if (!this.#wasSlow) this.#widthMs = Infinity
      this.#wasSlow = false
      return
    }
    const widthMs = end - from
    if (tookMs < this.#boundMs / 4) this.#widthMs = Math.max(this.#widthMs, widthMs * WIDER)
    else if (tookMs > this.#boundMs / 2) this.#widthMs = Math.max(1, Math.floor(widthMs / 2))
    if (widthMs > 1) this.#boundMs = PAGE_MS
  }
}
