// (c): whether the statements that run often read by their indexes when the tables are large, with the statistics of when
// they were empty and with fresh ones.
import { type Planned, faultsOf, fillTables, statements } from '../../test/contract/postgres-plans.ts'
import type { PostgresServer } from '../../test/servers/postgres.ts'
import type { Findings, Question, QuestionContext } from '../question.ts'
import { startServer } from './server.ts'

const ROWS = 5_000_000
const QUICK_ROWS = 200_000
const FAULTS = 'c: statements that do not read by their indexes'

export const plans: Question = {
  letters: ['c'],
  title: 'plans',
  bars: [{ name: FAULTS, unit: '', limit: { atMost: 0 } }],
  seconds: (quick) => (quick ? 10 : 240),
  run,
}

async function run({ quick, progress }: QuestionContext): Promise<Findings> {
  const rows = plansAt(quick)
  const { faults, looked } = await lookAtPlans(rows, progress)
  if (faults.length > 0) progress(faults.join('\n'))
  return {
    rows: [
      { name: 'c: rows in the pool and in the topic', value: rows, unit: '' },
      { name: 'c: plans looked at', value: looked, unit: '' },
    ],
    values: { [FAULTS]: faults.length },
  }
}

/** How many rows the tables hold. */
export const plansAt = (quick: boolean): number => (quick ? QUICK_ROWS : ROWS)

export interface Looked {
  faults: string[]
  looked: number
}

/** Fills the tables of a new server, and looks at every plan. */
export async function lookAtPlans(rows: number, progress: (text: string) => void): Promise<Looked> {
  const server = await startServer()
  try {
    progress(`fills ${rows.toLocaleString('en-US')} rows`)
    await fillTables(server, rows)
    const before = await lookAt(server, statements)
    progress('analyzes')
    await server.run('analyze')
    return {
      faults: [...before, ...(await lookAt(server, statements))],
      looked: 2 * statements.length,
    }
  } finally {
    await server.remove()
  }
}

async function lookAt(server: PostgresServer, planned: readonly Planned[]): Promise<string[]> {
  const faults: string[] = []
  for (const statement of planned) faults.push(...(await faultsOf(server, statement)))
  return faults
}
