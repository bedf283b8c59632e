// (a) and (b): how many ticks a second are posted, one a request, to bare Fastify and durably to Headrace.
// Both servers live through all rounds and are measured in turn, so that what disturbs one disturbs the other.
import { median } from '../measure.ts'
import type { Server } from '../process.ts'
import type { Findings, Question, QuestionContext } from '../question.ts'
import { drained } from './drained.ts'
import { type LoadAnswer, runLoad } from './load.ts'

/** The load of (b) and (c): one tick per POST, 1 M random ids, due times uniform over the window. */
export const CONNECTIONS = 400
export const WINDOW_MS = 5000

const SHARE = 'b: POST /ticks as a share of bare Fastify'
const DRAIN_WITHIN_MS = 60_000

interface Plan {
  rounds: number
  warmUpMs: number
  durationMs: number
}

/** A warm-up longer than the window: what is measured moves as many ticks as it accepts. */
const FULL: Plan = { rounds: 3, warmUpMs: 6000, durationMs: 8000 }
const QUICK: Plan = { rounds: 2, warmUpMs: 1000, durationMs: 2000 }

export const postRate: Question = {
  letters: ['a', 'b'],
  title: 'posts',
  bars: [{ name: SHARE, unit: '', limit: { atLeast: 0.45 } }],
  seconds: (quick) => (quick ? 26 : 110),
  run,
}

async function run(context: QuestionContext): Promise<Findings> {
  const { rounds, ...times } = context.quick ? QUICK : FULL
  const bare = await context.processes.serveFile('bench/ticks/bare-fastify.ts')
  const headrace = await context.processes.serve()
  const answers: { bare: LoadAnswer[]; headrace: LoadAnswer[] } = { bare: [], headrace: [] }
  for (let round = 1; round <= rounds; round++) {
    const post = ({ url }: Server, name: string): Promise<LoadAnswer> =>
      runLoad(
        context.processes,
        { server: url, connections: CONNECTIONS, rate: null, windowMs: WINDOW_MS, follow: false, ...times },
        (text) => context.progress(`${name}, round ${round} of ${rounds}: ${text}`),
      )
    answers.bare.push(await post(bare, 'bare Fastify'))
    answers.headrace.push(await post(headrace, 'POST /ticks'))
    await drained(headrace.url, DRAIN_WITHIN_MS)
  }
  await bare.stop()
  await headrace.stop()
  return summarize(answers)
}

function summarize(answers: { bare: LoadAnswer[]; headrace: LoadAnswer[] }): Findings {
  const bare = median(answers.bare.map(rateOf))
  const headrace = median(answers.headrace.map(rateOf))
  const busy = (loads: LoadAnswer[]): number => 100 * median(loads.map((load) => load.busy))
  const answerMs = median(answers.headrace.map(({ report }) => report.answerMs.p99 ?? Number.NaN))
  return {
    rows: [
      { name: 'a: POST to bare Fastify, same schema and answer', value: bare, unit: '/s' },
      { name: 'a: core used by the generator', value: busy(answers.bare), unit: '%' },
      { name: 'b: POST /ticks, durable, due ticks moving, nobody reading', value: headrace, unit: '/s' },
      { name: 'b: answered within, p99', value: answerMs, unit: 'ms' },
      { name: 'b: core used by the generator', value: busy(answers.headrace), unit: '%' },
    ],
    values: { [SHARE]: headrace / bare },
  }
}

function rateOf({ report }: LoadAnswer): number {
  return (report.totals.scheduled * 1000) / report.durationMs
}
