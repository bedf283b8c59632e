// (a), (b): how many rows a second putAll puts, 1,000 a call, and how that compares with graphile-worker's addJobs on the
// same server, in turns of one run. The peer is taken at the best of its settings, and of our own rules for keys that are
// there the slowest is judged.
import { join } from 'node:path'
import { median } from '../measure.ts'
import type { BarSpec, Findings, Question, QuestionContext, Row } from '../question.ts'
import { KINDS, type Kind } from './contestant.ts'
import type { PutProbeInput, Raced } from './put-probe.ts'
import { startServer } from './server.ts'

const CONNECTIONS = [1, 3]
const LETTERS: Record<Kind, string> = { unkeyed: 'a', keyed: 'b' }

interface Heat {
  kind: Kind
  connections: number
}

const HEATS: Heat[] = KINDS.flatMap((kind) => CONNECTIONS.map((connections) => ({ kind, connections })))

const titleOf = ({ kind, connections }: Heat): string =>
  `${LETTERS[kind]}: ${kind}, ${connections} connection${connections === 1 ? '' : 's'}`
const barOf = (heat: Heat): string => `${titleOf(heat)}: put ÷ addJobs at its best`

export const putRate: Question = {
  letters: Object.values(LETTERS),
  title: 'put rate',
  bars: HEATS.map((heat): BarSpec => ({ name: barOf(heat), unit: '×', limit: { atLeast: 1.5 } })),
  seconds: (quick) => (quick ? 25 : 240),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const server = await startServer()
  try {
    const input: PutProbeInput = {
      url: server.url(),
      connections: CONNECTIONS,
      rounds: quick ? 2 : 10,
      calls: quick ? 12 : 48,
    }
    const raced = await processes.run<Raced[]>(join(import.meta.dirname, 'put-probe.ts'), input, progress)
    return summarize(raced)
  } finally {
    await server.remove()
  }
}

function summarize(raced: readonly Raced[]): Findings {
  const rows: Row[] = []
  const values: Record<string, number> = {}
  for (const heat of HEATS) {
    const runners = raced.filter(
      ({ kind, connections }) => kind === heat.kind && connections === heat.connections,
    )
    for (const { name, rates } of runners) {
      rows.push({ name: `${titleOf(heat)}: ${name}`, value: median(rates), unit: '/s' })
    }
    const best = runners
      .filter(({ side }) => side === 'peer')
      .toSorted(byMedian)
      .at(-1)
    const ours = runners
      .filter(({ side }) => side === 'ours')
      .toSorted(byMedian)
      .at(0)
    if (best === undefined || ours === undefined) throw new Error(`nobody ran ${titleOf(heat)}`)
    // Round by round, so that what disturbed a round disturbs both.
    values[barOf(heat)] = median(ours.rates.map((rate, round) => rate / (best.rates[round] as number)))
  }
  return { rows, values }
}

function byMedian(a: Raced, b: Raced): number {
  return median(a.rates) - median(b.rates)
}
