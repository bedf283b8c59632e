// Durations: '250ms', '10s', '5m', '2h', '7d', or a number of milliseconds.
import { HeadraceError } from './errors.ts'

/** Milliseconds, or a text such as `250ms`, `10s`, `5m`, `2h` or `7d`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SHAPE = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** Milliseconds of a duration, a whole number; refuses what is negative, unreadable or longer than ten years. */
export function toMs(
  duration: number | string,
  code: 'invalid_options' | 'invalid_input' = 'invalid_options',
): number {
  const ms = typeof duration === 'number' ? duration : fromText(duration)
  if (!Number.isFinite(ms) || ms < 0 || ms > 3650 * 86_400_000) {
    throw new HeadraceError(
      code,
      `the duration ${JSON.stringify(duration) ?? typeof duration} is not understood`,
      {
        remedy: "write a number of milliseconds or a text such as '250ms', '10s', '5m', '2h' or '7d'",
      },
    )
  }
  return Math.round(ms)
}

function fromText(text: unknown): number {
  // Types do not hold callers from JavaScript.
  if (typeof text !== 'string') return Number.NaN
  const [, amount, unit] = SHAPE.exec(text.trim()) ?? []
  return amount === undefined || unit === undefined
    ? Number.NaN
    : Number(amount) * (UNITS[unit] ?? Number.NaN)
}
