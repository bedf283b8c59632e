// What fails inside a server and no client hears of, or hears only that something failed: told on stderr.
import type { Clock } from '../clock.ts'
import { HeadraceError, messageOf } from '../errors.ts'
import type { Telemetry } from '../telemetry.ts'

/** Of each kind of failure at most one line in this time, so that a flood of them stays readable. */
const QUIET_MS = 1000

export interface ReportParts {
  clock: Clock
  talk: (line: string) => void
}

/** Tells failures until the returned function is called. */
export function reportFailures(telemetry: Telemetry, parts: ReportParts): () => void {
  const tellTicks = throttled(parts)
  const tellHttp = throttled(parts)
  const tellLost = throttled(parts)
  const tellRoster = throttled(parts)
  const stops = [
    telemetry.on('ticks.failed', ({ pool, error, retryInMs }) => {
      const outlook = retryInMs === null ? 'they do not move before a restart' : 'trying again'
      tellTicks(`due ticks of the pool ${pool} wait: ${reasonOf(error)}; ${outlook}`)
    }),
    telemetry.on('http.failed', ({ route, method, error }) => {
      tellHttp(`${method} ${route} met a defect of Headrace: ${reasonOf(error)}`)
    }),
    telemetry.on('roster.lost', ({ id }) => {
      const why = 'it was silent for a lease: did this process or its machine stand still, or the store?'
      tellLost(`the others have taken the work of this member (${id}), and it joins again; ${why}`)
    }),
    telemetry.on('roster.failed', ({ error }) => {
      tellRoster(`a step in the roster failed: ${inOneLine(error)}; trying again`)
    }),
  ]
  return () => stops.forEach((stop) => stop())
}

function throttled({ clock, talk }: ReportParts): (line: string) => void {
  let toldAt = -Infinity
  let untold = 0
  return (line) => {
    if (clock.mono() < toldAt + QUIET_MS) {
      untold += 1
      return
    }
    talk(untold === 0 ? line : `${line} (and ${untold} more like it)`)
    toldAt = clock.mono()
    untold = 0
  }
}

/** Without the stack: what fails here is nearly always the store, and said again and again while it does. */
function inOneLine(error: unknown): string {
  const text = error instanceof HeadraceError ? reasonOf(error) : messageOf(error)
  return text.replaceAll(/\s*\n\s*/g, ' ')
}

function reasonOf(error: unknown): string {
  if (error instanceof HeadraceError) {
    return error.remedy === null ? error.message : `${error.message} (${error.remedy})`
  }
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error)
}
