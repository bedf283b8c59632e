// Pure arithmetic of measurements: medians, quantiles, rounding, and whether a bar holds.
import type { BarSpec } from './question.ts'

export interface Bar {
  name: string
  value: number
  /** The limit as text: `≥ 16,000/s`. */
  bar: string
  holds: boolean | 'not judged'
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)]
  if (upper === undefined) throw new Error('there is no median of nothing')
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper
}

/** The least of the values that a share `q` of them does not exceed (nearest rank). */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const found = sorted[Math.max(1, Math.ceil(sorted.length * q)) - 1]
  if (found === undefined) throw new Error('there is no quantile of nothing')
  return found
}

/** Rounded to what a reader can use: whole numbers from 100 on, else three digits. */
export function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}

/** Judges the exact value and shows the rounded one. A bar whose value is missing does not hold. */
export function judge(spec: BarSpec, value: number | undefined, quick: boolean): Bar {
  const measured = value ?? Number.NaN
  const { limit } = spec
  const holds = 'atLeast' in limit ? measured >= limit.atLeast : measured <= limit.atMost
  return {
    name: spec.name,
    value: round(measured),
    bar: formatLimit(spec),
    holds: quick ? 'not judged' : holds,
  }
}

export function formatLimit({ limit, unit }: BarSpec): string {
  const [sign, value] = 'atLeast' in limit ? ['≥', limit.atLeast] : ['≤', limit.atMost]
  return `${sign} ${formatValue(value, unit)}`
}

/** `16,000/s`, `25 ms`, `0.45`. */
export function formatValue(value: number, unit: string): string {
  const number = round(value).toLocaleString('en-US', { maximumFractionDigits: 6 })
  return unit === '' || unit.startsWith('/') ? `${number}${unit}` : `${number} ${unit}`
}
