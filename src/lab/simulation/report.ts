// What many runs say together. Pure.
import { FAULT_POINTS } from '../../fault.ts'
import { type PointCounts, noPoints } from './points.ts'
import type { RunReport } from './run.ts'
import { RACES, type RaceCounts, noRaces } from './sometimes.ts'

/** A run without its trace, as it is told by one thread to another. */
export type RunSummary = Omit<RunReport, 'trace'>

export interface Tally {
  /** The first seed: a report that says how many of so many broke a promise names it. */
  first: number
  runs: number
  /** The runs in which a promise was broken, the first ones. */
  broken: RunSummary[]
  brokenRuns: number
  operations: number
  answered: number
  faults: number[]
  races: RaceCounts
  points: PointCounts
  /** How many runs had so many members. */
  members: Record<string, number>
  fewestOperations: number
  /** The hashes of some seeds, by which two processes are compared. */
  hashes: Record<string, string>
}

/** Of one in so many seeds the hash is kept. */
export const HASHED_EVERY = 100

/** So many broken runs are kept; all are counted. */
const MOST_KEPT = 20

export function newTally(first: number): Tally {
  return {
    first,
    runs: 0,
    broken: [],
    brokenRuns: 0,
    operations: 0,
    answered: 0,
    faults: [],
    races: noRaces(),
    points: noPoints(),
    members: {},
    fewestOperations: Infinity,
    hashes: {},
  }
}

export function addRun(tally: Tally, run: RunSummary): void {
  tally.runs += 1
  tally.operations += run.operations
  tally.answered += run.answered
  tally.faults.push(run.faults)
  tally.members[run.members] = (tally.members[run.members] ?? 0) + 1
  tally.fewestOperations = Math.min(tally.fewestOperations, run.operations)
  if (run.seed % HASHED_EVERY === 0) tally.hashes[run.seed] = run.hash
  for (const race of RACES) tally.races[race] += run.races[race]
  for (const point of FAULT_POINTS) {
    tally.points[point].reached += run.points[point].reached
    tally.points[point].died += run.points[point].died
  }
  if (run.violations.length === 0) return
  tally.brokenRuns += 1
  if (tally.broken.length < MOST_KEPT) tally.broken.push(run)
}

/** Races that no run has met, and points at which nobody has died. */
export function unmet({ races, points }: Tally): string[] {
  return [
    ...RACES.filter((race) => races[race] === 0),
    ...FAULT_POINTS.filter((point) => points[point].died === 0).map((point) => `a death at ${point}`),
  ]
}

export function medianFaults({ faults }: Tally): number {
  return faults.toSorted((a, b) => a - b)[Math.floor(faults.length / 2)] ?? 0
}

/** Of none in n one may say, and be right in 95 of 100 cases, that fewer than 3/n break a promise. */
export function ruleOfThree({ first, runs, brokenRuns }: Tally): string {
  const broke = `${brokenRuns} of ${runs} runs from seed ${first} broke a promise`
  if (brokenRuns > 0) return broke
  return `${broke}: fewer than ${(300 / runs).toPrecision(2)} % do, with 95 % confidence`
}
