// Runs mutants: each is planted in a copy of the tree, where the test that it names must fail. On the tree as it
// is that test must pass, or its failure would prove nothing.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from 'node:test'
import { promisify } from 'node:util'
import { listTree } from '../tidy/tree.ts'
import type { Mutant } from './mutant.ts'

export type Verdict = 'caught' | 'survived' | 'does not apply' | 'refused by types' | 'test proves nothing'

export interface Hunted extends Mutant {
  verdict: Verdict
  seconds: number
  /** How its test failed; or what refused the mutant, or spoke against its test. */
  detail: string
}

export interface HuntOptions {
  /** Also demand that the compiler finds nothing: a bug that types catch needs no test. */
  types: boolean
  progress(text: string): void
}

const root = join(import.meta.dirname, '../..')
const AT_ONCE = 2
/** The slowest named test takes about two seconds. */
const TEST_WITHIN_MS = 60_000

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
      const { verdict, detail } = sound.has(testOf(mutant))
        ? await judge(mutant, options.types)
        : { verdict: 'test proves nothing' as const, detail: 'it does not pass on the tree as it is' }
      hunted.push({ ...mutant, verdict, detail, seconds: (performance.now() - began) / 1000 })
      options.progress(`${hunted.length} of ${mutants.length}: ${mutant.name} ${verdict}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, hunter))
  return hunted.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The named tests that pass on the tree as it is; each file runs once. */
async function soundTests(mutants: readonly Mutant[]): Promise<Set<string>> {
  const sound = new Set<string>()
  for (const [file, named] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    const results = await runTests(
      root,
      file,
      named.map(({ title }) => title),
    )
    for (const mutant of named) if (results.get(mutant.title)?.passed === true) sound.add(testOf(mutant))
  }
  return sound
}

function testOf({ file, title }: Mutant): string {
  return `${file}: ${title}`
}

async function judge(mutant: Mutant, types: boolean): Promise<{ verdict: Verdict; detail: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-mutant-'))
  try {
    copyTree(folder)
    const refusal = await plant(folder, mutant.patch)
    if (refusal !== null) return { verdict: 'does not apply', detail: refusal }
    const complaint = types ? await compile(folder) : null
    if (complaint !== null) return { verdict: 'refused by types', detail: complaint }
    const result = (await runTests(folder, mutant.file, [mutant.title])).get(mutant.title)
    if (result === undefined)
      return { verdict: 'test proves nothing', detail: 'it does not run on the mutant' }
    return result.passed ? { verdict: 'survived', detail: '' } : { verdict: 'caught', detail: result.failure }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function copyTree(folder: string): void {
  for (const path of listTree()) cpSync(join(root, path), join(folder, path))
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'), 'dir')
}

/** Answers what git said when the patch does not apply. */
function plant(folder: string, patch: string): Promise<string | null> {
  // Inside another repository git would skip files of ours without a word.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) }
  return complaintOf(execute('git', ['apply', patch], { cwd: folder, env }))
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
