// What the race of a pool leaves behind, and the judge of it. A death has a record of the store's own; a run that is done
// leaves none: a trigger of the race's own notes what left the table of entries. A handler notes before its answer what it saw.

/** A run that was settled for good, by one of two accounts. */
export interface SettledRun {
  key: string
  /** When it was noted, in milliseconds since 1970: before the answer, or as it is written. */
  at: number
  /** Of a handler: the tally that it was given. Of the store: what its record says, or by how much the tally of the entry fell. */
  seen: number
}

/** What the producers counted, and what the store's tables say after the last of them. */
export interface RaceRecord {
  puts: Map<string, number>
  /** Every run that left the table as done. */
  done: SettledRun[]
  /** Every run that the store has a record of as dead. */
  dead: SettledRun[]
  /** What handlers saw that were about to answer either; some were killed before they could. */
  saw: SettledRun[]
  /** The tallies of entries that are not dead, by key. */
  left: Map<string, number>
}

export interface RaceVerdict {
  puts: number
  /** Runs that were settled for good. */
  done: number
  dead: number
  /** Keys whose puts are not those that settled runs saw, and runs of which more or less went than they saw. */
  wrong: string[]
  /** Keys of which something waits, long after the last put and kill. */
  stuck: string[]
}

/** Half of the keys. */
export function isDoneKey(key: string): boolean {
  return Number(key.slice(1)) % 2 === 1
}

export function sawLine({ key, at, seen }: SettledRun): string {
  return `${key} ${at} ${seen}\n`
}

/** The last line of a handler that was killed may be a part of one. */
export function readSaw(text: string): SettledRun[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .map((line) => line.split(' '))
    .filter((parts) => parts.length === 3)
    .map(([key = '', at, seen]) => ({ key, at: Number(at), seen: Number(seen) }))
}

/** Pure. Every put of a key must be in the tally of exactly one run that settled, or wait; what went was seen. [P4] */
export function judgeRace({ puts, done, saw, dead, left }: RaceRecord): RaceVerdict {
  const settledRuns = [...done, ...dead]
  const seen = new Map<string, number>()
  for (const run of settledRuns) seen.set(run.key, (seen.get(run.key) ?? 0) + run.seen)
  const wrong: string[] = []
  for (const key of new Set([...puts.keys(), ...seen.keys(), ...left.keys()])) {
    const [put = 0, settled = 0, waits = 0] = [puts.get(key), seen.get(key), left.get(key)]
    if (put !== settled + waits) wrong.push(`${key}: ${put} puts, ${settled} seen, ${waits} left`)
  }
  for (const [key, runs] of Map.groupBy(settledRuns, ({ key }) => key))
    wrong.push(
      ...unseen(
        runs,
        saw.filter((run) => run.key === key),
      ),
    )
  const total = [...puts.values()].reduce((all, count) => all + count, 0)
  return { puts: total, done: done.length, dead: dead.length, wrong, stuck: [...left.keys()] }
}

/** Runs of a key are made one by one: a handler noted what went with each after the one before, and no more than that. */
function unseen(settled: readonly SettledRun[], saw: readonly SettledRun[]): string[] {
  const byTime = (a: SettledRun, b: SettledRun): number => a.at - b.at
  let open = saw.toSorted(byTime)
  let before = -Infinity
  const wrong: string[] = []
  for (const { key, at, seen } of settled.toSorted(byTime)) {
    const since = before
    open = open.filter((run) => run.at >= since)
    const nth = open.findIndex((run) => run.at <= at && run.seen === seen)
    if (nth === -1) wrong.push(`${key}: a tally of ${seen} is gone that no run saw`)
    else open.splice(nth, 1)
    before = at
  }
  return wrong
}
