// Runs groups of node:test files one after another and adds up their counts.
// Leaves to test.ts and check.ts which groups a command runs.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

export interface Tally {
  passed: number
  failed: number
  skipped: number
}

interface Group {
  folder: string
  /** How many files run at once. 1 for tests that load the machine or start processes of their own. */
  concurrency: number
}

const root = join(import.meta.dirname, '..')
/** A file that hangs must not hold CI for ever; the longest fault tests take a few minutes. */
const fileTimeoutMs = 15 * 60_000

export const groups = [
  { folder: 'test/tidy', concurrency: 2 },
  { folder: 'test/unit', concurrency: 2 },
  { folder: 'test/contract', concurrency: 2 },
  { folder: 'test/fault', concurrency: 1 },
  { folder: 'test/examples', concurrency: 1 },
  { folder: 'test/package', concurrency: 1 },
] as const satisfies Group[]

/** Runs every group. One without a test is a failure: a folder that was moved must not pass unseen. */
export async function runGroups(wanted: readonly Group[]): Promise<Tally> {
  const missing = missingGroups(wanted, root)
  for (const folder of missing) print(`${folder} holds no test, and counts as failed`)
  const total: Tally = { passed: 0, failed: missing.length, skipped: 0 }
  for (const group of wanted.filter(({ folder }) => !missing.includes(folder))) {
    const started = performance.now()
    add(total, await runGroup(group))
    print(`${group.folder}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
  }
  return total
}

/** Folders of groups that are absent or hold no test. */
export function missingGroups(wanted: readonly Group[], within: string): string[] {
  return wanted.map(({ folder }) => folder).filter((folder) => filesOf(folder, within).length === 0)
}

function filesOf(folder: string, within: string): string[] {
  return globSync(`${folder}/**/*.test.ts`, { cwd: within }).toSorted()
}

async function runGroup({ folder, concurrency }: Group): Promise<Tally> {
  const files = filesOf(folder, root)
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 }
  const events = run({ files, cwd: root, concurrency, timeout: fileTimeoutMs })
  events.on('test:summary', ({ file, counts }) => {
    // One summary per file comes too; the one without a file is the sum.
    if (file !== undefined) return
    add(tally, {
      passed: counts.passed,
      failed: counts.tests - counts.passed - counts.skipped - counts.todo,
      skipped: counts.skipped + counts.todo,
    })
  })
  for await (const text of events.compose(new spec())) process.stdout.write(text)
  return tally
}

export function add(total: Tally, more: Tally): void {
  total.passed += more.passed
  total.failed += more.failed
  total.skipped += more.skipped
}

/** The line that .ci/run looks for. A run without one test proves nothing, so it fails too. */
export function finish(total: Tally): void {
  print(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
