// Findings that doctor makes by itself. Pure; those of a store and of the roster are made where they are known.
import type { FindingView } from '../client/client.ts'
import { HeadraceError, messageOf } from '../errors.ts'

/** Due times are judged by the store's clock: more than this apart, what a caller calls now is not now there. */
const FAR_APART_MS = 1000

export interface ClockReading {
  /** This process's wall clock when it asked, and when it was answered. */
  sentAt: number
  answeredAt: number
  /** The store's clock in between. */
  now: number
}

/** How far the store's clock is from ours: it was read somewhere in the round trip, most likely in its middle. */
export function clockFinding({ sentAt, answeredAt, now }: ClockReading): FindingView {
  const offsetMs = Math.round(now - (sentAt + answeredAt) / 2)
  const uncertainMs = Math.ceil((answeredAt - sentAt) / 2)
  const ok = Math.abs(offsetMs) - uncertainMs <= FAR_APART_MS
  const where = offsetMs < 0 ? 'behind' : 'ahead of'
  return {
    check: 'clock',
    ok,
    detail: `the store's clock is ${Math.abs(offsetMs)} ms ${where} this one (± ${uncertainMs} ms)`,
    remedy: ok ? null : 'let NTP set the clocks of both machines; due times are judged by that of the store',
  }
}

/** What could not be done at all. */
export function failureFinding(check: string, error: unknown): FindingView {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  const remedy = error instanceof HeadraceError ? error.remedy : null
  return {
    check,
    ok: false,
    detail: `${messageOf(error)}${cause}`,
    remedy: remedy ?? 'run it again with --verbose, and report what it says',
  }
}

export function isWell({ ok }: FindingView): boolean {
  return ok
}
