// The only file that touches Date, timers, randomness and ids. Everything else is handed a Clock, so a
// test or the simulator can own time. What is due is decided by a store's clock, never by a timer.
import { randomBytes, randomInt } from 'node:crypto'

/** A pending timer; `cancel` is harmless after it has fired. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time in milliseconds since 1970, a whole number. It may jump. */
  now(): number
  /** Milliseconds since some moment, never going back. */
  mono(): number
  /** Calls back once, `delayMs` from now (at least one event-loop turn); `background` timers keep no process alive. */
  timer(delayMs: number, call: () => void, options?: { background?: boolean }): Timer
  /** Calls back in the next event-loop turn, after the input and output of this one. */
  turn(call: () => void): void
  /** Resolves after `delayMs`, or at once when the signal fires. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
  /** A number in [0, 1). */
  random(): number
  /** A new random id of 22 characters, safe in a URL; none begins with a dash, which a command line takes for a flag. */
  id(): string
}

/** setTimeout fires after 1 ms when asked for more than 2^31 - 1 ms, so no timer is armed further than this. */
export const LONGEST_TIMER_MS = 60_000

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  timer(delayMs, call, options = {}) {
    const handle = setTimeout(call, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS))
    if (options.background === true) handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
  turn: (call) => {
    setImmediate(call)
  },
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
  random: () => randomInt(0, 2 ** 47) / 2 ** 47,
  id: () => randomBytes(16).toString('base64url').replace(/^-/, 'a'),
}

/** Sleep built from a clock's timer, in steps no longer than LONGEST_TIMER_MS. */
export async function sleepOn(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  const end = clock.mono() + delayMs
  do {
    if (signal?.aborted === true) return
    await step(clock, Math.min(end - clock.mono(), LONGEST_TIMER_MS), signal)
  } while (clock.mono() < end)
}

function step(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.timer(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

const DAY_MS = 86_400_000
const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
/** The last day that was written: times come close together, and writing a date costs ten times the rest. */
const written = { day: Number.NaN, text: '' }

/** RFC 3339 in UTC with milliseconds. */
export function toIso(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== written.day) {
    written.text = new Date(day * DAY_MS).toISOString().slice(0, -13)
    written.day = day
  }
  const rest = ms - day * DAY_MS
  const seconds = Math.floor(rest / 1000)
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${written.text}${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[seconds % 60]}.${String((rest % 1000) + 1000).slice(1)}Z`
}

/** The earliest moment that is accepted: the year 0, before which RFC 3339 cannot write a time. */
export const FIRST_MOMENT = -62_167_219_200_000

/** The latest moment that is accepted: the last millisecond of the year 9999. */
export const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Milliseconds of an RFC 3339 time, or null. Stricter than Date.parse, which reads `2026-02-31` as March and
 * accepts 24:00 and local times without a zone. Digits past the millisecond are rounded up, so nothing fires early.
 */
export function parseTime(text: string): number | null {
  if (text.length > 64 || !RFC3339.test(text)) return null
  const day = Number(text.slice(8, 10))
  const monthDays = DAYS[Number(text.slice(5, 7)) - 1]
  if (monthDays === undefined || day < 1 || day > monthDays) return null
  const ms = Date.parse(text.toUpperCase())
  if (Number.isNaN(ms) || ms > LAST_MOMENT) return null
  if (day > 28 && isPastEndOfMonth(text, day)) return null
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return /[1-9]/.test(fraction.slice(3)) ? Math.min(ms + 1, LAST_MOMENT) : ms
}

function isPastEndOfMonth(text: string, day: number): boolean {
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== day
}
