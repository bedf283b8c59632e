// One run of the simulator, by its seed or by a swarm that was written down, with all that happened in it.
import { readFileSync, writeFileSync } from 'node:fs'
import { type RunReport, runSwarm } from '../src/lab/simulation/run.ts'
import { shrink } from '../src/lab/simulation/shrink.ts'
import { type Swarm, drawSwarm } from '../src/lab/simulation/swarm.ts'

export interface OneFlags {
  /** A seed, or the file of a swarm. */
  from: number | string
  shrink: boolean
  save: string | null
  json: boolean
}

/** Two or three operations of a swarm. */
const LINE_LENGTH = 250

/** 0: every promise held. */
export async function runOne(flags: OneFlags): Promise<number> {
  const drawn = typeof flags.from === 'number' ? drawSwarm(flags.from) : readSwarm(flags.from)
  if (drawn === null) return 2
  const swarm = flags.shrink ? await smaller(drawn) : drawn
  if (swarm === null) return 2
  if (flags.save !== null) {
    writeFileSync(flags.save, swarmText(swarm))
    say(`written to ${flags.save}; npm run simulate -- --swarm ${flags.save} runs it again`)
  }
  const run = await runSwarm(swarm)
  process.stdout.write(flags.json ? `${JSON.stringify(run, null, 2)}\n` : told(run))
  return run.violations.length === 0 ? 0 : 1
}

/** As JSON, a line for each field; of a list as many elements in a line as fit. */
export function swarmText(swarm: Swarm): string {
  const fields = Object.entries(swarm).map(([name, value]) => {
    const text = Array.isArray(value) && value.length > 0 ? listText(value) : JSON.stringify(value)
    return `${JSON.stringify(name)}: ${text}`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}

function listText(elements: readonly unknown[]): string {
  const lines: string[] = []
  let line = ''
  for (const element of elements) {
    const text = JSON.stringify(element)
    if (line !== '' && line.length + text.length + 2 > LINE_LENGTH) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? text : `, ${text}`
  }
  return `[\n${[...lines, line].join(',\n')}\n]`
}

function told(run: RunReport): string {
  return [
    ...run.trace,
    '',
    `seed ${run.seed}: ${run.members} members, ${run.answered} of ${run.operations} operations answered, ${run.faults} faults, trace ${run.hash}`,
    ...run.violations.map((violation) => `BROKEN: ${violation}`),
    '',
  ].join('\n')
}

function readSwarm(file: string): Swarm | null {
  try {
    const swarm = JSON.parse(readFileSync(file, 'utf8')) as Partial<Swarm>
    if (
      Array.isArray(swarm.operations) &&
      Array.isArray(swarm.planned) &&
      Array.isArray(swarm.spared) &&
      Array.isArray(swarm.jobOperations)
    )
      return swarm as Swarm
    say(`--swarm ${file} is not a swarm: one is written by --save`)
  } catch (error) {
    say(`--swarm ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return null
}

/** What it takes to break the promise that this run breaks. */
async function smaller(swarm: Swarm): Promise<Swarm | null> {
  const shrunk = await shrink(swarm, (each) => runSwarm(each))
  if (shrunk === null) {
    say(`seed ${swarm.seed} breaks no promise: there is nothing to make smaller`)
    return null
  }
  const { members, planned, operations } = shrunk.swarm
  say(
    `${shrunk.runs} runs later: ${members} members, ${planned.length} planned faults, ${shrunk.struck.length} faults ` +
      `of calls, and ${operations.length} operations are left of it`,
  )
  return shrunk.swarm
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
