// node test/mutants/seek.ts FROM TO: simulates seeds, one after the other, until a run breaks a promise. Prints which it
// was and what it broke, as JSON; or null.
import { simulate } from '../../src/lab/simulation/run.ts'

const [from, to] = process.argv.slice(2).map(Number) as [number, number]
let seed = from
process.on('uncaughtException', (error) =>
  answer({ seed, violation: `a member’s process ended with ${error}` }),
)
answer(await seek())

function answer(found: { seed: number; violation: string } | null): never {
  process.stdout.write(JSON.stringify(found))
  // What a broken member left behind must not keep the process.
  process.exit(0)
}

async function seek(): Promise<{ seed: number; violation: string } | null> {
  for (; seed <= to; seed += 1) {
    const violation = await violationOf()
    if (violation !== undefined) return { seed, violation }
  }
  return null
}

async function violationOf(): Promise<string | undefined> {
  try {
    return (await simulate(seed)).violations[0]
  } catch (error) {
    return `the run ended with ${String(error)}`
  }
}
