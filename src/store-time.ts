// The store's time on this process's wall clock, which may be off by any amount. What is due is due by the store's.

/** A time that the store told, and our own before the call was sent and after it was answered. */
export interface Told {
  now: number
  sentAt: number
  answeredAt: number
}

export class StoreTime {
  #aheadMs = 0

  /** The store read its clock within the call: what is believed is kept if that can be, and else moved no further than needed. */
  hear({ now, sentAt, answeredAt }: Told): void {
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, now - answeredAt), now - sentAt)
  }

  /** When our own clock shows a moment of the store's. */
  toOwn(at: number): number {
    return at - this.#aheadMs
  }
}
