// How many workers would be enough, from what collectors report of their passes. Pure. Rule [Q9] of docs/spec/roster.md.

/** How far back reports count. */
export const WINDOW_MS = 600_000
/** Idle for more than this part of the time it had: under. */
const MOST_IDLE = 0.25
/** How busy the busiest should be. */
const WANTED_LOAD = 0.8

/** One pass of a collector, in seconds: how long it worked, and how long the interval was. */
export interface Pass {
  took: number
  had: number
}

export interface Report extends Pass {
  /** When it came, in milliseconds. */
  at: number
}

export interface CollectorReports {
  id: string
  reports: readonly Report[]
}

/** `unknown`: it did not report. */
export type Signal = 'over' | 'under' | 'right' | 'unknown'

export interface CollectorLoad extends Pass {
  id: string
  passes: number
  /** Took to had; null: it did not report. */
  load: number | null
  signal: Signal
}

export interface Advice {
  collectors: CollectorLoad[]
  /** How many workers would be enough; null: nothing is known. */
  recommended: number | null
  /** Why, one sentence each. */
  reasons: string[]
}

/** What every collector that is there reported within the window, and how many of them there should be. [Q9] */
export function adviseWorkers(
  reported: readonly CollectorReports[],
  { now, partitions }: { now: number; partitions: number },
): Advice {
  const collectors = reported.map(({ id, reports }) =>
    loadOf(
      id,
      reports.filter(({ at }) => at > now - WINDOW_MS),
    ),
  )
  const known = collectors.filter((collector) => collector.load !== null)
  const busiest = known.toSorted((a, b) => (b.load ?? 0) - (a.load ?? 0))[0]
  if (busiest?.load === undefined || busiest.load === null) {
    return {
      collectors,
      recommended: null,
      reasons: [`nobody reported in the last ${WINDOW_MS / 60_000} minutes`],
    }
  }
  const { recommended, reasons } = decide(collectors, busiest.id, busiest.load)
  if (recommended <= partitions) return { collectors, recommended, reasons }
  const bound = `${recommended} would be enough, but a share of ${partitions} residues has no work for more than that`
  return { collectors, recommended: partitions, reasons: [...reasons, bound] }
}

function loadOf(id: string, reports: readonly Report[]): CollectorLoad {
  const took = reports.reduce((sum, report) => sum + report.took, 0)
  const had = reports.reduce((sum, report) => sum + report.had, 0)
  const load = had === 0 ? null : took / had
  return { id, passes: reports.length, took, had, load, signal: signalOf(load) }
}

function signalOf(load: number | null): Signal {
  if (load === null) return 'unknown'
  if (load > 1) return 'over'
  return 1 - load > MOST_IDLE ? 'under' : 'right'
}

/** The busiest stands for all: its load falls as the number of workers grows. */
function decide(
  collectors: readonly CollectorLoad[],
  busiest: string,
  load: number,
): { recommended: number; reasons: string[] } {
  const count = collectors.length
  const count80 = Math.max(1, Math.ceil((count * load) / WANTED_LOAD - 1e-9))
  const of = (signal: Signal): number => collectors.filter((collector) => collector.signal === signal).length
  const most = `the busiest, ${busiest}, worked ${percent(load)} of the time it had`
  const then = `with ${count80} it would be about ${percent((load * count) / count80)}`
  if (of('over') > 0)
    return {
      recommended: count80,
      reasons: [`${of('over')} of ${count} took longer than they had`, most, then],
    }
  if (of('under') === count)
    return {
      recommended: count80,
      reasons: [`each of ${count} was idle for more than ${percent(MOST_IDLE)}`, most, then],
    }
  const silent = of('unknown') === 0 ? [] : [`${of('unknown')} of ${count} did not report`]
  return {
    recommended: count,
    reasons: ['none took longer than it had, and not all were idle for more than 25 %', most, ...silent],
  }
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}
