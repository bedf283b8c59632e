// Seeded random numbers: the same seed gives the same run, so a failure can be repeated by its seed.

export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number
  /** One of the items. */
  pick<Item>(items: readonly Item[]): Item
}

/** mulberry32: 32 bits of state, good enough to choose operations, never for ids that must be secret. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, pick: (items) => items[below(items.length)] as (typeof items)[number] }
}
