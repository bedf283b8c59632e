// node test/mutants/seek.ts FROM TO [SEEN…]: simulates seeds, one after the other, until a run breaks one of these promises;
// any, if none is named. Prints all that this run broke, and the first run that broke others alone, as JSON.
import { simulate } from '../../src/lab/simulation/run.ts'
import { type Broken, EXCEPTION, type Sought, shownIn } from './mutant.ts'

const [from, to, ...seen] = process.argv.slice(2) as [string, string, ...string[]]
let seed = Number(from)
let other: Broken | null = null
process.on('uncaughtException', (error) => {
  const broken = { seed, violations: [`${EXCEPTION}: a member’s process ended with ${error}`] }
  answer(isSought(broken) ? { found: broken, other } : { found: null, other: other ?? broken })
})
answer(await seek())

function answer(sought: Sought): never {
  process.stdout.write(JSON.stringify(sought))
  // What a broken member left behind must not keep the process.
  process.exit(0)
}

async function seek(): Promise<Sought> {
  for (; seed <= Number(to); seed += 1) {
    const broken = { seed, violations: await violationsOf() }
    if (isSought(broken)) return { found: broken, other }
    if (broken.violations.length > 0) other ??= broken
  }
  return { found: null, other }
}

function isSought({ violations }: Broken): boolean {
  return seen.length === 0 ? violations.length > 0 : shownIn(violations, seen) !== null
}

async function violationsOf(): Promise<string[]> {
  try {
    return (await simulate(seed)).violations
  } catch (error) {
    return [`${EXCEPTION}: the run ended with ${String(error)}`]
  }
}
