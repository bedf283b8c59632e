// (a), (b) on PostgreSQL: how many runs of a handler that does nothing a second, beside graphile-worker (a) and pg-boss (b)
// on the same server. Heats find the best settings of each peer; then all race by turns, a process each, and in every round
// the fastest setting of a peer counts. A quick run has no heats, and one setting of each.
import { join } from 'node:path'
import type { PostgresServer } from '../../test/servers/postgres.ts'
import { median } from '../measure.ts'
import { startServer } from '../pool/server.ts'
import type { Findings, Question, QuestionContext, Row } from '../question.ts'
import { type Setting, nameOf } from './contestant.ts'
import {
  BOSS,
  FINALISTS,
  GRAPHILE,
  HEAT,
  OURS,
  OURS_WITHOUT_SIGNAL,
  QUICK_BOSS,
  QUICK_GRAPHILE,
  type Size,
  sizeOf,
} from './plan.ts'
import { bestOf, ratiosOf } from './rounds.ts'
import type { RunProbeInput } from './run-probe.ts'

const A = 'a: work ÷ graphile-worker at its best'
const B = 'b: work ÷ pg-boss at its best'
const ROUNDS = 3

export const runRate: Question = {
  letters: ['a', 'b'],
  title: 'run rate',
  bars: [
    { name: A, unit: '×', limit: { atLeast: 3 } },
    { name: B, unit: '×', limit: { atLeast: 2.5 } },
  ],
  seconds: (quick) => (quick ? 12 : 420),
  run,
}

/** Every race in a schema of its own, which is dropped after it. */
class Track {
  readonly #server: PostgresServer
  readonly #context: QuestionContext
  #races = 0

  constructor(server: PostgresServer, context: QuestionContext) {
    this.#server = server
    this.#context = context
  }

  async race(setting: Setting, size: Size): Promise<number> {
    const { processes, progress } = this.#context
    this.#races += 1
    const schema = `race_${this.#races}`
    const input: RunProbeInput = { setting, place: { address: this.#server.url(), schema }, ...size }
    const rate = await processes.run<number>(join(import.meta.dirname, 'run-probe.ts'), input, progress)
    await this.#server.run(`drop schema ${schema} cascade`)
    return rate
  }
}

/** Who races in every round, for which question, and how fast. */
interface Finalist {
  role: 'ours' | 'beside' | 'a' | 'b'
  setting: Setting
  rates: number[]
}

async function run(context: QuestionContext): Promise<Findings> {
  const { quick } = context
  const server = await startServer()
  try {
    const track = new Track(server, context)
    const rows: Row[] = []
    const graphile = quick ? [QUICK_GRAPHILE] : await best(track, 'a', rows)
    const boss = quick ? [QUICK_BOSS] : await best(track, 'b', rows)
    const as = (role: Finalist['role'], settings: readonly Setting[]): Finalist[] =>
      settings.map((setting) => ({ role, setting, rates: [] }))
    const beside = as('beside', quick ? [] : [OURS_WITHOUT_SIGNAL])
    const finalists = [...as('ours', [OURS]), ...as('a', graphile), ...as('b', boss), ...beside]
    for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
      for (const { setting, rates } of finalists) rates.push(await track.race(setting, sizeOf(quick)))
    }
    return summarize(finalists, rows, sizeOf(quick))
  } finally {
    await server.remove()
  }
}

const HEATS = {
  a: { settings: GRAPHILE, count: FINALISTS.graphile },
  b: { settings: BOSS, count: FINALISTS.boss },
}

/** The settings of a peer that go on. */
async function best(track: Track, letter: 'a' | 'b', rows: Row[]): Promise<Setting[]> {
  const { settings, count } = HEATS[letter]
  const heats: { setting: Setting; rate: number }[] = []
  for (const setting of settings) {
    const rate = await track.race(setting, HEAT)
    rows.push({ name: `${letter}: heat, ${HEAT.runs} runs: ${nameOf(setting)}`, value: rate, unit: '/s' })
    heats.push({ setting, rate })
  }
  return bestOf(heats, count)
}

function summarize(finalists: readonly Finalist[], rows: Row[], size: Size): Findings {
  for (const { role, setting, rates } of finalists) {
    const letters = role === 'a' || role === 'b' ? role : 'a, b'
    rows.push({ name: `${letters}: ${size.runs} runs: ${nameOf(setting)}`, value: median(rates), unit: '/s' })
  }
  rows.push({ name: 'a, b: runs of the warm-up before', value: size.warmUp, unit: '' })
  const ratesOf = (role: Finalist['role']): number[][] =>
    finalists.filter((each) => each.role === role).map(({ rates }) => rates)
  const [ours = []] = ratesOf('ours')
  const ratio = (peer: 'a' | 'b'): number => {
    const ratios = ratiosOf(ours, ratesOf(peer))
    for (const [nth, value] of ratios.entries())
      rows.push({ name: `${peer}: round ${nth + 1}: our rate ÷ the peer’s fastest`, value, unit: '×' })
    return median(ratios)
  }
  const values = { [A]: ratio('a'), [B]: ratio('b') }
  rows.push({ name: 'a, b: rounds, the median of whose ratios counts', value: ours.length, unit: '' })
  return { rows, values }
}
