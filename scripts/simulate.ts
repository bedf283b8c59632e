// npm run simulate: many runs of members in virtual time with faults by their seeds, from a first seed that is drawn at
// random; or with --seed or --swarm one run with its trace; or with --days days of one life. The result goes to stdout,
// progress to stderr; exits with 1 when a promise was broken, when a run never ended, or when of many runs none met some race;
// with 2 when asked wrongly.
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import {
  type RunSummary,
  type Tally,
  addRun,
  medianFaults,
  newTally,
  ruleOfThree,
  unmet,
} from '../src/lab/simulation/report.ts'
import { liveDays } from './simulate-days.ts'
import { runOne } from './simulate-one.ts'

const usage =
  'npm run simulate -- [--runs N] [--from SEED] [--step N] [--seed SEED | --swarm FILE [--shrink] [--save FILE]] ' +
  '[--days N [--seed SEED]] [--json]'
const help = `${usage}

  --runs N       how many runs, default 1000
  --from SEED    the first seed; without it one is drawn at random and printed
  --step N       from one seed to the next, default 1
  --seed SEED    one run, with all that happened in it; or the seed of --days
  --swarm FILE   one run that --save has written
  --shrink       of one broken run: leave out what it does not need to break the same promise
  --save FILE    write the one run to a file
  --days N       that many days of one cluster; without --seed its seed is drawn at random
  --json         print the result as JSON`
/** The seeds up to here are for fixed ranges, as of CI and of planted bugs; none of them is drawn. */
const LAST_FIXED = 1_000_000
const LAST_SEED = 0xff_ff_ff_ff
/** Fewer runs need not meet every race. */
const ENOUGH = 200
const TELL_EVERY = 100

const flags = readFlags()
process.exitCode = await asked()

function asked(): Promise<number> {
  const { days, seed, swarm, shrink, save, json } = flags
  if (days !== null) return liveDays({ days, seed: seed ?? drawSeed(1), json })
  const from = swarm ?? seed
  return from === null ? many(flags) : runOne({ from, shrink, save, json })
}

async function many({ runs, from, step }: Flags): Promise<number> {
  const first = from ?? drawSeed(runs * step)
  const drawn = from === null ? ', drawn at random' : ''
  const again = `npm run simulate -- --runs ${runs} --from ${first}${step === 1 ? '' : ` --step ${step}`}`
  say(`first seed ${first}${drawn}; the same runs again: ${again}`)
  const tally = newTally(first)
  const threads = Math.min(availableParallelism(), runs)
  const shares = Array.from({ length: threads }, (_, thread) =>
    Array.from({ length: runs }, (__, nth) => first + nth * step).filter(
      (___, nth) => nth % threads === thread,
    ),
  )
  await Promise.all(shares.map((seeds) => runThread(seeds, tally)))
  const missing = runs >= ENOUGH ? unmet(tally) : []
  process.stdout.write(flags.json ? `${JSON.stringify(tally, null, 2)}\n` : `${table(tally, missing)}\n`)
  if (tally.runs < runs) say(`BROKEN: of ${runs} runs ${runs - tally.runs} never ended, or never began`)
  return tally.brokenRuns === 0 && tally.runs === runs && missing.length === 0 ? 0 : 1
}

/** A run that waits for what never comes leaves its thread with nothing to do, which then ends without an error. */
function runThread(seeds: readonly number[], tally: Tally): Promise<void> {
  let told = 0
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./simulate-thread.ts', import.meta.url), { workerData: { seeds } })
    thread.on('message', (run: RunSummary) => {
      addRun(tally, run)
      told += 1
      if (run.violations.length > 0) say(`seed ${run.seed}: ${run.violations[0]}`)
      if (tally.runs % TELL_EVERY === 0) say(`${tally.runs} runs, ${tally.brokenRuns} broken`)
    })
    thread.on('error', reject)
    thread.on('exit', (code) => {
      if (told < seeds.length) say(`seed ${seeds[told]}: the run never ended, its thread did with ${code}`)
      resolve()
    })
  })
}

function table(tally: Tally, missing: readonly string[]): string {
  const races = Object.entries(tally.races).map(([race, count]) => `${String(count).padStart(9)}  ${race}`)
  const points = Object.entries(tally.points).map(
    ([point, { reached, died }]) => `${String(died).padStart(9)}  died at ${point}, reached ${reached} times`,
  )
  const broken = tally.broken.map(
    ({ seed, violations }) => `BROKEN  seed ${seed}: ${violations.join('; ').slice(0, 300)}`,
  )
  return [
    ...races,
    ...points,
    '',
    `${tally.answered} of ${tally.operations} operations answered, ${medianFaults(tally)} faults in the median run`,
    ...missing.map((race) => `NEVER MET: ${race}`),
    ...broken,
    ruleOfThree(tally),
    ...(broken.length > 0
      ? [`npm run simulate -- --seed ${tally.broken[0]?.seed} shows the first of them`]
      : []),
  ].join('\n')
}

/** The first of so many seeds that hardly anybody has run before: real randomness, which the simulator itself never sees. */
function drawSeed(count: number): number {
  const last = LAST_SEED - count
  return last > LAST_FIXED ? randomInt(LAST_FIXED + 1, last) : 0
}

interface Flags {
  runs: number
  /** Null: it is drawn at random. */
  from: number | null
  /** From one seed to the next. */
  step: number
  seed: number | null
  /** A file with the swarm of one run. */
  swarm: string | null
  days: number | null
  shrink: boolean
  /** Where the swarm of the one run is written. */
  save: string | null
  json: boolean
}

function readFlags(): Flags {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const { values } = parseArgs({
      options: {
        runs: text,
        from: text,
        step: text,
        seed: text,
        swarm: text,
        days: text,
        shrink: flag,
        save: text,
        json: flag,
        help: { ...flag, short: 'h' },
      },
    })
    if (values.help) {
      process.stdout.write(`${help}\n`)
      process.exit(0)
    }
    const number = (name: 'runs' | 'from' | 'step' | 'seed' | 'days', least: number): number | null => {
      const given = values[name]
      if (given === undefined) return null
      const value = Number(given)
      if (!Number.isSafeInteger(value) || value < least || value > LAST_SEED) {
        return refuse(`--${name} is ${given}, and not a whole number from ${least} to 4294967295\n${usage}`)
      }
      return value
    }
    const seed = number('seed', 0)
    const days = number('days', 1)
    const { shrink, save = null, swarm = null } = values
    if (
      days !== null &&
      (shrink || [save, swarm, values.runs ?? null, values.from ?? null].some((each) => each !== null))
    )
      refuse(`--days goes with --seed and --json alone\n${usage}`)
    if (seed !== null && swarm !== null) refuse(`--seed and --swarm both say which run: give one\n${usage}`)
    if ((shrink || save !== null) && seed === null && swarm === null)
      refuse(`--shrink and --save need the --seed or the --swarm of a run\n${usage}`)
    return {
      runs: number('runs', 1) ?? 1000,
      from: number('from', 0),
      step: number('step', 1) ?? 1,
      seed,
      swarm,
      days,
      shrink,
      save,
      json: values.json,
    }
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function refuse(reason: string): never {
  say(reason)
  process.exit(2)
}
