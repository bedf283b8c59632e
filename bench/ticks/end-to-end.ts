// (c): post → due → topic → read, all at once, with the generator that posts and reads on the same machine.
// Counted after the first window, when as many ticks fall due as are posted.
import { spreadOf } from '../../src/generator/tally.ts'
import { median } from '../measure.ts'
import type { Findings, Question, QuestionContext } from '../question.ts'
import { drained } from './drained.ts'
import { type LoadAnswer, runLoad } from './load.ts'
import { CONNECTIONS, WINDOW_MS } from './post-rate.ts'

const MEAN = 'c: end to end, mean'
const WORST = 'c: end to end, worst second'
const DRAIN_WITHIN_MS = 60_000

export const endToEnd: Question = {
  letters: ['c'],
  title: 'end to end',
  bars: [
    { name: MEAN, unit: '/s', limit: { atLeast: 16_000 } },
    { name: WORST, unit: '/s', limit: { atLeast: 12_000 } },
  ],
  seconds: (quick) => (quick ? 14 : 45),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const server = await processes.serve()
  const answer = await runLoad(
    processes,
    {
      server: server.url,
      connections: CONNECTIONS,
      rate: null,
      windowMs: WINDOW_MS,
      warmUpMs: quick ? 1000 : 6000,
      durationMs: WINDOW_MS + (quick ? 3000 : 25_000),
      follow: true,
    },
    progress,
  )
  await drained(server.url, DRAIN_WITHIN_MS)
  await server.stop()
  return summarize(answer)
}

function summarize({ report, busy }: LoadAnswer): Findings {
  const seconds = report.seconds.filter(({ endMs, elapsedMs }) => endMs - elapsedMs >= WINDOW_MS - 1)
  const consumed = spreadOf(seconds, 'consumed')
  const generated = spreadOf(seconds, 'generated')
  if (consumed === null || generated === null) throw new Error('no second was counted after the first window')
  const p50 = median(seconds.map(({ latenessP50Ms }) => latenessP50Ms ?? Number.NaN))
  const p99 = Math.max(...seconds.map(({ latenessP99Ms }) => latenessP99Ms ?? Number.NaN))
  return {
    rows: [
      { name: 'c: generated, mean', value: generated.mean, unit: '/s' },
      { name: 'c: read, mean', value: consumed.mean, unit: '/s' },
      { name: 'c: read, worst second', value: consumed.worst, unit: '/s' },
      { name: 'c: lateness p50, middle second', value: p50, unit: 'ms' },
      { name: 'c: lateness p99, worst second', value: p99, unit: 'ms' },
      { name: 'c: core used by the generator', value: 100 * busy, unit: '%' },
    ],
    values: { [MEAN]: consumed.mean, [WORST]: consumed.worst },
  }
}
