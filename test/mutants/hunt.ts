// Runs mutants: each is planted in a copy of the tree, where the test that it names must fail, or a run of the simulator
// break a promise that it names. On the tree as it is they must not, or it would prove nothing.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { promisify } from 'node:util'
import { listTree } from '../tidy/tree.ts'
import {
  type Broken,
  type Mutant,
  type NamedTest,
  type Simulation,
  type Sought,
  isSimulation,
  plant,
  shownIn,
} from './mutant.ts'

export type Verdict =
  | 'caught'
  | 'survived'
  | 'broke another promise'
  | 'does not apply'
  | 'refused by types'
  | 'test proves nothing'

interface Judgement {
  verdict: Verdict
  /** How its test failed, or what a run broke; or what refused the mutant, or spoke against what should catch it. */
  detail: string
  /** How many seeds were simulated; null: none. */
  seeds: number | null
}

export type Hunted = Mutant & Judgement & { seconds: number }

export interface HuntOptions {
  /** Also demand that the compiler finds nothing: a bug that types catch needs no test. */
  types: boolean
  progress(text: string): void
}

const root = join(import.meta.dirname, '../..')
const AT_ONCE = 2
/** The slowest named test takes about two seconds. */
const TEST_WITHIN_MS = 60_000
/** A run takes a tenth of a second, and one of a mutant that spins several times as long. */
const SEED_WITHIN_MS = 1000

type TestResult = { passed: true } | { passed: false; failure: string }

const execute = promisify(execFile)

/** Answers in the order of names. */
export async function hunt(mutants: readonly Mutant[], options: HuntOptions): Promise<Hunted[]> {
  const sound = await soundTests(mutants)
  const hunted: Hunted[] = []
  const queue = mutants.values()
  const hunter = async (): Promise<void> => {
    for (const mutant of queue) {
      const began = performance.now()
      const { caughtBy } = mutant
      const judgement =
        isSimulation(caughtBy) || sound.has(testOf(caughtBy))
          ? await judge(mutant, options.types)
          : nothing('it does not pass on the tree as it is')
      hunted.push({ ...mutant, ...judgement, seconds: (performance.now() - began) / 1000 })
      options.progress(`${hunted.length} of ${mutants.length}: ${mutant.name} ${judgement.verdict}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, hunter))
  return hunted.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The named tests that pass on the tree as it is; each file runs once. */
async function soundTests(mutants: readonly Mutant[]): Promise<Set<string>> {
  const sound = new Set<string>()
  const tests = mutants.flatMap(({ caughtBy }) => (isSimulation(caughtBy) ? [] : [caughtBy]))
  for (const [file, named] of Map.groupBy(tests, (each) => each.file)) {
    const results = await runTests(
      root,
      file,
      named.map(({ test }) => test),
    )
    for (const each of named) if (results.get(each.test)?.passed === true) sound.add(testOf(each))
  }
  return sound
}

function testOf({ file, test }: NamedTest): string {
  return `${file}: ${test}`
}

function nothing(detail: string): Judgement {
  return { verdict: 'test proves nothing', detail, seeds: null }
}

async function judge(mutant: Mutant, types: boolean): Promise<Judgement> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-mutant-'))
  try {
    copyTree(folder)
    const planted = plant(mutant, (file) => readFileSync(join(folder, file), 'utf8'))
    if (typeof planted === 'string') return { verdict: 'does not apply', detail: planted, seeds: null }
    for (const [file, text] of planted) writeFileSync(join(folder, file), text)
    const complaint = types ? await compile(folder) : null
    if (complaint !== null) return { verdict: 'refused by types', detail: complaint, seeds: null }
    const { caughtBy } = mutant
    return await (isSimulation(caughtBy) ? simulate(folder, caughtBy) : fail(folder, caughtBy))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Whether the test fails on the mutant. */
async function fail(folder: string, { file, test }: NamedTest): Promise<Judgement> {
  const result = (await runTests(folder, file, [test])).get(test)
  if (result === undefined) return nothing('it does not run on the mutant')
  if (result.passed) return { verdict: 'survived', detail: '', seeds: null }
  return { verdict: 'caught', detail: result.failure, seeds: null }
}

/** Whether a run of the mutant breaks what it is to break, and the same run of the tree as it is breaks nothing. */
async function simulate(folder: string, { seeds, breaking }: Simulation): Promise<Judgement> {
  const sought = await seek(folder, { from: 1, to: seeds }, breaking)
  if (sought === 'late') return survived(seeds, 'took too long')
  if (typeof sought === 'string') return nothing(sought)
  const { found, other } = sought
  if (found === null) return other === null ? survived(seeds, 'broke nothing') : mistaken(other, seeds)
  const sound = await seek(root, { from: found.seed, to: found.seed }, [])
  if (typeof sound === 'string' || sound.found !== null)
    return nothing(`seed ${found.seed} breaks a promise on the tree as it is`)
  return { verdict: 'caught', detail: shownIn(found.violations, breaking) ?? '', seeds: found.seed }
}

function survived(seeds: number, how: string): Judgement {
  return { verdict: 'survived', detail: `${seeds} seeds ${how}`, seeds }
}

function mistaken({ seed, violations }: Broken, seeds: number): Judgement {
  return { verdict: 'broke another promise', detail: `after ${seed} seeds: ${violations[0]}`, seeds }
}

/** `late`, or else why the runs did not come to their end. */
async function seek(
  cwd: string,
  { from, to }: { from: number; to: number },
  seen: readonly string[],
): Promise<Sought | string> {
  const timeout = TEST_WITHIN_MS + (to - from) * SEED_WITHIN_MS
  const program = [join(cwd, 'test/mutants/seek.ts'), String(from), String(to), ...seen]
  try {
    const { stdout } = await execute(process.execPath, program, { cwd, timeout, killSignal: 'SIGKILL' })
    return JSON.parse(stdout) as Sought
  } catch (error) {
    const { killed, stderr = '' } = error as { killed?: boolean; stderr?: string }
    return killed === true ? 'late' : `the runs did not end: ${stderr.trim() || String(error)}`
  }
}

function copyTree(folder: string): void {
  for (const path of listTree()) cpSync(join(root, path), join(folder, path))
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'), 'dir')
}

function compile(folder: string): Promise<string | null> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return complaintOf(execute(process.execPath, [compiler, '-p', 'tsconfig.json'], { cwd: folder }))
}

async function complaintOf(execution: Promise<unknown>): Promise<string | null> {
  try {
    await execution
    return null
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return `${stdout}${stderr}`.trim() || String(error)
  }
}

/** Runs the tests of these titles. One that is not there, or whose file does not load, has no result. */
async function runTests(
  cwd: string,
  file: string,
  titles: readonly string[],
): Promise<Map<string, TestResult>> {
  const results = new Map<string, TestResult>()
  const events = run({
    files: [join(cwd, file)],
    cwd,
    testNamePatterns: titles.map((title) => new RegExp(`${escape(title)}$`)),
    timeout: TEST_WITHIN_MS,
  })
  for await (const { type, data } of events) {
    if (type === 'test:pass' && titles.includes(data.name)) results.set(data.name, { passed: true })
    if (type === 'test:fail' && titles.includes(data.name)) {
      const { cause } = data.details.error
      results.set(data.name, {
        passed: false,
        failure: cause instanceof Error ? cause.message : String(cause),
      })
    }
  }
  return results
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
