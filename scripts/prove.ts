// npm run prove -- CAPABILITY [--quick] [--only TEXT] [--json] [--report]: runs the rows of proof/CAPABILITY.
// The result goes to stdout, talk to stderr; exits with 1 when a bar does not hold, with 2 when asked wrongly.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { formatReport, formatTable, summarize, type ProofDocument } from '../proof/present.ts'
import type { ProofRow } from '../proof/row.ts'
import { runRows } from '../proof/run-rows.ts'

const root = join(import.meta.dirname, '..')
const usage = 'npm run prove -- CAPABILITY [--quick] [--only TEXT] [--json] [--report]'

const { capability, flags } = readArguments()
const rows = await loadRows(capability)
const findings = await runRows(rows, { quick: flags.quick, only: flags.only, progress: say })
if (findings.length === 0)
  refuse(`No row of proof ${capability} was run. There are:\n${rows.map((r) => r.name).join('\n')}`)

if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
const proof = describe()
if (flags.report) writeReport(proof)
process.stdout.write(
  flags.json ? `${JSON.stringify(proof, null, 2)}\n` : `${formatTable(findings)}\n\n${summarize(findings)}\n`,
)
// Rows may leave handles open; a proof that has its result must not hang on them.
process.exit(findings.some(({ holds }) => holds === false) ? 1 : 0)

function readArguments() {
  const boolean = { type: 'boolean', default: false } as const
  const options = { quick: boolean, json: boolean, report: boolean, only: { type: 'string' } } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    if (positionals.length !== 1) refuse(`Say which proof: ${usage}\nThere are: ${known()}`)
    return { capability: String(positionals[0]), flags: values }
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
  }
}

async function loadRows(name: string): Promise<ProofRow[]> {
  const files = globSync(`proof/${name}/*.rows.ts`, { cwd: root }).toSorted()
  if (!/^[a-z0-9]+$/.test(name) || files.length === 0)
    refuse(`There is no proof ${name}. There are: ${known()}`)
  const modules: { rows?: ProofRow[] }[] = await Promise.all(files.map((file) => import(join(root, file))))
  return modules.flatMap(({ rows }, index) => rows ?? refuse(`${files[index]} exports no rows`))
}

function known(): string {
  const folders = globSync('proof/*/*.rows.ts', { cwd: root }).map((file) => file.split(/[/\\]/)[1] ?? '')
  return [...new Set(folders)].toSorted().join(', ') || 'none yet'
}

function describe(): ProofDocument {
  return {
    capability,
    quick: flags.quick,
    commit: commit(),
    command: `npm run -s prove -- ${process.argv.slice(2).join(' ')}`,
    machine: {
      cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
      cores: os.availableParallelism(),
      memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
      os: `${os.type()} ${os.release()}`,
    },
    node: process.version,
    date: new Date().toISOString(),
    rows: findings,
  }
}

function commit(): string {
  if (!existsSync(join(root, '.git'))) return 'unknown'
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  return git('rev-parse', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' with changes')
}

function writeReport(document: ProofDocument): void {
  const folder = join(root, 'docs/operating/proof')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${capability}.md`), formatReport(document))
  process.stderr.write(`wrote docs/operating/proof/${capability}.md\n`)
}

function say(name: string, text: string): void {
  const line = `${name}: ${text}`
  const columns = process.stderr.columns
  // In a terminal the progress of a row stays on one line.
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${line.slice(0, columns - 1)}` : `${line}\n`)
}

function refuse(message: string): never {
  process.stderr.write(`prove: ${message}\n`)
  process.exit(2)
}
