// (e): how late ticks are at 4,000 a second: posted ahead of time, and due at once from 8 connections. Judged
// by the event's time − the `at` that the client asked for; of an immediate tick that includes its way to the
// store and its commit, so it is never less than the time since it was due.
import { quantile } from '../measure.ts'
import type { BarSpec, Findings, Question, QuestionContext, Row } from '../question.ts'
import { drained } from './drained.ts'
import { type LoadAnswer, runLoad } from './load.ts'
import { type Lateness, readLateness } from './topic-lateness.ts'

interface Load {
  name: string
  connections: number
  windowMs: number
}

const LOADS: Load[] = [
  { name: 'ahead', connections: 100, windowMs: 5000 },
  { name: 'immediate', connections: 8, windowMs: 0 },
]

const RATE = 4000
/** A load that was not there proves nothing about lateness, so it has a bar of its own. */
const LEAST_DUE = 3900
const DRAIN_WITHIN_MS = 60_000

const dueName = ({ name }: Load): string => `e: due, ${name}`
const p99Name = ({ name }: Load): string => `e: lateness p99, ${name}`
const maxName = ({ name }: Load): string => `e: lateness max, ${name}`

export const lateness: Question = {
  letters: ['e'],
  title: 'lateness',
  bars: LOADS.flatMap((load): BarSpec[] => [
    { name: dueName(load), unit: '/s', limit: { atLeast: LEAST_DUE } },
    { name: p99Name(load), unit: 'ms', limit: { atMost: 25 } },
    { name: maxName(load), unit: 'ms', limit: { atMost: 250 } },
  ]),
  seconds: (quick) => (quick ? 25 : 80),
  run,
}

async function run(context: QuestionContext): Promise<Findings> {
  const findings: Findings = { rows: [], values: {} }
  for (const load of LOADS) {
    const { rows, values } = await measure(context, load)
    findings.rows.push(...rows)
    Object.assign(findings.values, values)
  }
  return findings
}

async function measure({ quick, processes, progress }: QuestionContext, load: Load): Promise<Findings> {
  const { name, connections, windowMs } = load
  const server = await processes.serve()
  const answer = await runLoad(
    processes,
    {
      server: server.url,
      connections,
      rate: RATE,
      windowMs,
      // Longer than the window, so that 4,000 a second are due from the first measured moment on.
      warmUpMs: quick ? 5500 : 8000,
      durationMs: quick ? 3000 : 25_000,
      follow: true,
    },
    (text) => progress(`${name}: ${text}`),
  )
  await drained(server.url, DRAIN_WITHIN_MS)
  progress(`${name}: reads the topic`)
  const late = await readLateness(server.url, { from: answer.beganAt, before: answer.endedAt })
  await server.stop()
  return summarize(load, answer, late)
}

function summarize(load: Load, { report }: LoadAnswer, { sinceAt, sinceDue }: Lateness): Findings {
  const due = (sinceAt.length * 1000) / report.durationMs
  const row = (name: string, value: number, unit: string): Row => ({
    name: `e: ${load.name}, ${name}`,
    value,
    unit,
  })
  const p99 = quantile(sinceAt, 0.99)
  const max = quantile(sinceAt, 1)
  return {
    rows: [
      row('due', due, '/s'),
      row('time − at, p50', quantile(sinceAt, 0.5), 'ms'),
      row('time − at, p99', p99, 'ms'),
      row('time − at, max', max, 'ms'),
      row('time − dueAt, p99', quantile(sinceDue, 0.99), 'ms'),
      row('time − dueAt, max', quantile(sinceDue, 1), 'ms'),
    ],
    values: { [dueName(load)]: due, [p99Name(load)]: p99, [maxName(load)]: max },
  }
}
