// (f): what taking and moving 100 due entries costs while many others wait, and after many others were settled.
// Half of the due entries stand in the journal and half in the table, so every take reads and joins both.
import { join } from 'node:path'
import type { BarSpec, Findings, Question, QuestionContext, Row } from '../question.ts'
import type { ProbeInput, ProbeStep } from './take-probe.ts'

interface Plan {
  pending: number[]
  settled: number
  cycles: number
}

const FULL: Plan = { pending: [10_000, 100_000, 1_000_000], settled: 1_000_000, cycles: 300 }
const QUICK: Plan = { pending: [1000, 10_000, 100_000], settled: 100_000, cycles: 50 }

const KINDS = ['take', 'move'] as const
type Kind = (typeof KINDS)[number]

const pendingName = (kind: Kind): string => `f: ${kind}, 1 M pending ÷ 10 k pending`
const settledName = (kind: Kind): string => `f: ${kind}, 1 M settled behind ÷ none`

export const takeCost: Question = {
  letters: ['f'],
  title: 'take cost',
  bars: KINDS.flatMap((kind): BarSpec[] => [
    { name: pendingName(kind), unit: '', limit: { atMost: 1.5 } },
    { name: settledName(kind), unit: '', limit: { atMost: 1.5 } },
  ]),
  seconds: (quick) => (quick ? 15 : 120),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const { pending, settled, cycles } = quick ? QUICK : FULL
  const probe = (name: string, input: Omit<ProbeInput, 'store' | 'cycles'>): Promise<ProbeStep[]> =>
    processes.run(
      join(import.meta.dirname, 'take-probe.ts'),
      { ...input, cycles, store: `sqlite:${join(processes.folder(), 'headrace.db')}` },
      (text) => progress(`${name}: ${text}`),
    )
  const growing = await probe('pending', { settled: 0, pending })
  const behind = await probe('settled', { settled, pending: pending.slice(0, 1) })
  return summarize(growing, behind, settled)
}

function summarize(growing: ProbeStep[], behind: ProbeStep[], settled: number): Findings {
  const [few, many, after] = [growing[0], growing.at(-1), behind[0]]
  if (few === undefined || many === undefined || after === undefined) throw new Error('nothing was probed')
  const rows = KINDS.flatMap((kind): Row[] => [
    ...growing.map((step) => ({
      name: `f: ${kind} 100, ${count(step.pending)} pending`,
      value: step[kind],
      unit: 'ms',
    })),
    {
      name: `f: ${kind} 100, ${count(after.pending)} pending, ${count(settled)} settled behind`,
      value: after[kind],
      unit: 'ms',
    },
  ])
  const values = KINDS.flatMap((kind): [string, number][] => [
    [pendingName(kind), many[kind] / few[kind]],
    [settledName(kind), after[kind] / few[kind]],
  ])
  return { rows, values: Object.fromEntries(values) }
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
