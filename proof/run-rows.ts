// Runs rows of proof one after another, so that none disturbs the figures of another. Prints nothing itself.
import type { ProofContext, ProofResult, ProofRow } from './row.ts'

export interface Finding {
  name: string
  value: string | number
  bar: string
  holds: boolean | 'not judged'
  detail?: string
  seconds: number
}

export interface RunOptions {
  quick: boolean
  /** Only rows whose name contains this text, in any case. */
  only?: string | undefined
  progress: (name: string, text: string) => void
}

export async function runRows(rows: readonly ProofRow[], options: RunOptions): Promise<Finding[]> {
  const only = options.only?.toLowerCase() ?? ''
  const wanted = rows.filter(
    (row) => row.name.toLowerCase().includes(only) && (!options.quick || row.quick !== false),
  )
  const findings: Finding[] = []
  for (const row of wanted) findings.push(await runRow(row, options))
  return findings
}

async function runRow(row: ProofRow, { quick, progress }: RunOptions): Promise<Finding> {
  const started = performance.now()
  progress(row.name, 'runs')
  const { threw, ...result } = await attempt(row, { quick, progress: (text) => progress(row.name, text) })
  const judged = threw || !(quick && row.speed === true)
  return {
    name: row.name,
    value: result.value,
    bar: row.bar,
    holds: judged ? result.holds : 'not judged',
    ...(result.detail === undefined ? {} : { detail: result.detail }),
    seconds: Math.round((performance.now() - started) / 100) / 10,
  }
}

async function attempt(row: ProofRow, context: ProofContext): Promise<ProofResult & { threw: boolean }> {
  try {
    return { ...(await row.run(context)), threw: false }
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { value: 'threw', holds: false, detail, threw: true }
  }
}
