// (a), (b) on PostgreSQL: how many runs of a handler that does nothing a second, beside graphile-worker (a) and pg-boss (b)
// on the same server. Heats find the best setting of each peer; then all race by turns, a process each. A quick run has no
// heats, and one setting of each.
import { join } from 'node:path'
import type { PostgresServer } from '../../test/servers/postgres.ts'
import { median } from '../measure.ts'
import { startServer } from '../pool/server.ts'
import type { Findings, Question, QuestionContext, Row } from '../question.ts'
import { type Setting, nameOf } from './contestant.ts'
import {
  BOSS,
  GRAPHILE,
  HEAT,
  OURS,
  OURS_WITH_SIGNAL,
  QUICK_BOSS,
  QUICK_GRAPHILE,
  type Size,
  sizeOf,
} from './plan.ts'
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
  seconds: (quick) => (quick ? 12 : 330),
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

async function run(context: QuestionContext): Promise<Findings> {
  const { quick } = context
  const server = await startServer()
  try {
    const track = new Track(server, context)
    const rows: Row[] = []
    const finalists = [OURS, QUICK_GRAPHILE, QUICK_BOSS]
    if (!quick) {
      finalists[1] = await best(track, { letter: 'a', settings: GRAPHILE, size: HEAT }, rows)
      finalists[2] = await best(track, { letter: 'b', settings: BOSS, size: HEAT }, rows)
      finalists[3] = OURS_WITH_SIGNAL
    }
    const rates = finalists.map((): number[] => [])
    for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
      for (const [nth, setting] of finalists.entries())
        rates[nth]?.push(await track.race(setting, sizeOf(quick)))
    }
    return summarize(finalists, rates, { rows, size: sizeOf(quick) })
  } finally {
    await server.remove()
  }
}

interface Heats {
  letter: string
  settings: readonly Setting[]
  size: Size
}

async function best(track: Track, { letter, settings, size }: Heats, rows: Row[]): Promise<Setting> {
  let [first, fastest] = [settings[0] as Setting, 0]
  for (const setting of settings) {
    const rate = await track.race(setting, size)
    rows.push({ name: `${letter}: heat, ${size.runs} runs: ${nameOf(setting)}`, value: rate, unit: '/s' })
    if (rate > fastest) [first, fastest] = [setting, rate]
  }
  return first
}

function summarize(
  finalists: readonly Setting[],
  rates: readonly number[][],
  { rows, size }: { rows: Row[]; size: Size },
): Findings {
  for (const [nth, setting] of finalists.entries()) {
    const name = `${['a, b', 'a', 'b', 'a, b'][nth]}: ${size.runs} runs: ${nameOf(setting)}`
    rows.push({ name, value: median(rates[nth] as number[]), unit: '/s' })
  }
  rows.push({ name: 'a, b: runs of the warm-up before', value: size.warmUp, unit: '' })
  // Round by round, so that what disturbed a round disturbs all.
  const ratio = (peer: number): number =>
    median((rates[0] as number[]).map((rate, round) => rate / (rates[peer]?.[round] as number)))
  return { rows, values: { [A]: ratio(1), [B]: ratio(2) } }
}
