// (f): what taking and moving 100 due entries costs while many others wait, and after many others were settled.
// Half of the due entries stand in the journal and half in the table, so every take reads and joins both.
import { join } from 'node:path'
import type { BarSpec, Findings, Question, QuestionContext, Row } from '../question.ts'
import type { Cost, ProbeInput } from './take-probe.ts'

type Scenario = ProbeInput['stores'][number]

/** The first is what the others are compared with: 100 × as many pending, and 100 × as many settled behind. */
const FULL: Scenario[] = [
  { settled: 0, pending: 10_000 },
  { settled: 0, pending: 100_000 },
  { settled: 0, pending: 1_000_000 },
  { settled: 1_000_000, pending: 10_000 },
]
/** A tenth. */
const QUICK = FULL.map(({ settled, pending }) => ({ settled: settled / 10, pending: pending / 10 }))

const KINDS = ['take', 'move'] as const
type Kind = (typeof KINDS)[number]

const pendingName = (kind: Kind): string => `f: ${kind}, 100 × as many pending`
const settledName = (kind: Kind): string => `f: ${kind}, 100 × as many settled behind`

export const takeCost: Question = {
  letters: ['f'],
  title: 'take cost',
  bars: KINDS.flatMap((kind): BarSpec[] => [
    { name: pendingName(kind), unit: '×', limit: { atMost: 1.5 } },
    { name: settledName(kind), unit: '×', limit: { atMost: 1.5 } },
  ]),
  seconds: (quick) => (quick ? 15 : 120),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const stores = quick ? QUICK : FULL
  const input: ProbeInput = { folder: processes.folder(), stores, cycles: quick ? 60 : 300 }
  const costs = await processes.run<Cost[]>(join(import.meta.dirname, 'take-probe.ts'), input, progress)
  return summarize(stores, costs)
}

function summarize(stores: Scenario[], costs: Cost[]): Findings {
  const [few, , many, behind] = costs
  if (few === undefined || many === undefined || behind === undefined) throw new Error('nothing was probed')
  const rows = KINDS.flatMap((kind) =>
    costs.map((cost, index): Row => {
      return { name: `f: ${kind} of 100, ${describe(stores[index])}`, value: cost[kind], unit: 'ms' }
    }),
  )
  const values = KINDS.flatMap((kind): [string, number][] => [
    [pendingName(kind), many[kind] / few[kind]],
    [settledName(kind), behind[kind] / few[kind]],
  ])
  return { rows, values: Object.fromEntries(values) }
}

function describe(store: Scenario | undefined): string {
  const { settled = 0, pending = 0 } = store ?? {}
  const behind = settled > 0 ? `, ${settled.toLocaleString('en-US')} settled behind` : ''
  return `${pending.toLocaleString('en-US')} pending${behind}`
}
