// Judges runs that a witness saw against limits: how many starts stood in any span of time, how many runs of a group were
// under way at once, and how much of a limit was used. Pure; times are the witness's, in milliseconds.

export interface WitnessedRun {
  group: string
  /** When its handler was called. */
  calledAt: number
  /** When it was about to end; Infinity: nobody has seen it end. */
  endedAt: number
}

/** The most starts in any span that is shorter than this. */
export function mostStartsWithin(runs: readonly WitnessedRun[], spanMs: number): number {
  const starts = runs.map(({ calledAt }) => calledAt).toSorted((a, b) => a - b)
  let [most, first] = [0, 0]
  for (const [nth, at] of starts.entries()) {
    while (at - (starts[first] as number) >= spanMs) first += 1
    most = Math.max(most, nth - first + 1)
  }
  return most
}

/** The most runs of any one group under way at once. */
export function mostAtOnce(runs: readonly WitnessedRun[]): number {
  let most = 0
  for (const ofGroup of Map.groupBy(runs, ({ group }) => group).values()) {
    const steps = ofGroup.flatMap(({ calledAt, endedAt }) => [
      { at: calledAt, by: 1 },
      { at: endedAt, by: -1 },
    ])
    // Of two at the same time the end comes first.
    steps.sort((a, b) => a.at - b.at || a.by - b.by)
    let underWay = 0
    for (const { by } of steps) {
      underWay += by
      most = Math.max(most, underWay)
    }
  }
  return most
}

export interface Span {
  from: number
  until: number
}

/** Starts a second within the span. */
export function startsPerSecond(runs: readonly WitnessedRun[], { from, until }: Span): number {
  const starts = runs.filter(({ calledAt }) => calledAt >= from && calledAt < until)
  return (starts.length * 1000) / (until - from)
}

/** How many runs were under way within the span, by the mean over its time. */
export function underWayOnAverage(runs: readonly WitnessedRun[], { from, until }: Span): number {
  const busyMs = runs.map(({ calledAt, endedAt }) =>
    Math.max(0, Math.min(endedAt, until) - Math.max(calledAt, from)),
  )
  return busyMs.reduce((sum, ms) => sum + ms, 0) / (until - from)
}
