// Many runs of members in virtual time, each with the faults of its seed.
import { type Tally, medianFaults, ruleOfThree } from '../../src/lab/simulation/report.ts'
import { once } from '../once.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'
import { simulate } from './simulate.ts'

const RUNS = 20_000
const QUICK_RUNS = 2000
const MOST_MINUTES = 30
const LEAST_OPERATIONS = 200
const LEAST_FAULTS = 3

/** How many seeds: a quick run has a fixed range from 1 on, a full one draws its first seed at random each time. */
export const seedsOf = ({ quick }: Pick<ProofContext, 'quick'>): number => (quick ? QUICK_RUNS : RUNS)

export const runs = once(async (context: ProofContext) => {
  const began = performance.now()
  const range = ['--runs', seedsOf(context), ...(context.quick ? ['--from', 1] : [])]
  const tally = await simulate<Tally>(range, context.progress)
  return { tally, minutes: (performance.now() - began) / 60_000 }
})

/** Everything that is counted by name over all runs, and must have happened: races, and deaths at fault points. */
function counted(tally: Tally): [string, number][] {
  const { races, points } = tally
  const atPoints = Object.entries(points).flatMap(([point, { reached, died }]): [string, number][] => [
    [`reached ${point}`, reached],
    [`died at ${point}`, died],
  ])
  return [...Object.entries(races), ...atPoints]
}

function row(
  name: string,
  bar: string,
  judge: (tally: Tally, made: { minutes: number; asked: number }) => ProofResult,
): ProofRow {
  return {
    name: `simulated runs: ${name}`,
    bar,
    async run(context) {
      const { tally, minutes } = await runs(context)
      return judge(tally, { minutes, asked: seedsOf(context) })
    },
  }
}

export const rows: ProofRow[] = [
  row('those that broke a promise, or never ended', '0', (tally, { asked }) => ({
    value: tally.runs === asked ? ruleOfThree(tally) : `${asked - tally.runs} of ${asked} never ended`,
    holds: tally.brokenRuns === 0 && tally.runs === asked,
    detail: [
      `first seed ${tally.first}: npm run simulate -- --runs ${asked} --from ${tally.first}`,
      ...tally.broken.map(({ seed, violations }) => `seed ${seed}: ${violations[0]}`),
    ].join('; '),
  })),
  row('members', '2 to 5', ({ members }) => {
    const sizes = Object.keys(members).map(Number)
    return {
      value: `${Math.min(...sizes)} to ${Math.max(...sizes)}`,
      holds: sizes.every((size) => size >= 2 && size <= 5) && sizes.length === 4,
      detail: Object.entries(members)
        .map(([size, count]) => `${count} runs with ${size}`)
        .join(', '),
    }
  }),
  row('operations in each', `≥ ${LEAST_OPERATIONS}`, ({ fewestOperations, operations, answered }) => ({
    value: fewestOperations,
    holds: fewestOperations >= LEAST_OPERATIONS,
    detail: `${answered} of ${operations} were answered`,
  })),
  row('faults in the median run', `≥ ${LEAST_FAULTS}`, (tally) => ({
    value: medianFaults(tally),
    holds: medianFaults(tally) >= LEAST_FAULTS,
  })),
  row('races and fault points that none has met', '0', (tally) => {
    const counts = counted(tally)
    const unmet = counts.filter(([, count]) => count === 0)
    return {
      value: `${unmet.length} of ${counts.length}`,
      holds: unmet.length === 0 && counts.length > 0,
      detail: counts.map(([name, count]) => `${name}: ${count}`).join('; '),
    }
  }),
  {
    ...row(
      'minutes on two cores',
      `≤ ${MOST_MINUTES} for ${RUNS.toLocaleString('en')}`,
      (tally, { minutes }) => ({
        value: `${minutes.toFixed(1)} for ${tally.runs.toLocaleString('en')}`,
        holds: minutes <= MOST_MINUTES,
        detail: `${(tally.runs / minutes / 60).toFixed(1)} runs a second`,
      }),
    ),
    speed: true,
  },
]
