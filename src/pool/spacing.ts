// When the next start of a rate that is spread may come: a bucket that each start fills by one, and that drains by one in
// each pace. Pure: times are given, and never go back. Rule [L22] of docs/spec/limits.md.

/** What was started lately; null where that is nothing. */
export interface Spaced {
  /** When the last start was. */
  readonly at: number
  /** How full the bucket was just after it. */
  readonly level: number
}

interface Pace {
  now: number
  /** From one start to the next; Infinity: none may come. */
  paceMs: number
}

interface Asked extends Pace {
  /** How many are about to start. */
  reserved: number
}

/** Timers are not finer: what is faster than one start in so long comes in steps of it. */
const STEP_MS = 10
/** Levels are sums of fractions. */
const NEARLY = 1e-6

/** When one more may start: now if it is past; Infinity: when one of those has started that are about to, or at another pace. */
export function opensAt(spaced: Spaced | null, { now, paceMs, reserved }: Asked): number {
  const over = levelAt(spaced, { now, paceMs }) + reserved + 1 - sizeOf(paceMs)
  if (over <= NEARLY) return 0
  return reserved + 1 > sizeOf(paceMs) + NEARLY ? Infinity : now + over * paceMs
}

/** How many more may start now. */
export function roomAt(spaced: Spaced | null, { now, paceMs, reserved }: Asked): number {
  return Math.max(0, Math.floor(sizeOf(paceMs) - levelAt(spaced, { now, paceMs }) - reserved + NEARLY))
}

export function startedAt(spaced: Spaced | null, { now, paceMs }: Pace): Spaced {
  return { at: now, level: levelAt(spaced, { now, paceMs }) + 1 }
}

function levelAt(spaced: Spaced | null, { now, paceMs }: Pace): number {
  return spaced === null ? 0 : Math.max(0, spaced.level - (now - spaced.at) / paceMs)
}

/** How many may start at once. */
function sizeOf(paceMs: number): number {
  return Math.max(1, STEP_MS / paceMs)
}
