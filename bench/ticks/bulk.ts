// (d): how many ticks a second are posted as NDJSON, until every result line is back. The first stream finds
// room in the journal, and the bar judges it; the second fills the journal, and what has no room goes to the
// table, which is slower (decision 0007): that is shown and not judged. Ticks that fall due meanwhile are moved, and those that wait long are folded, as always.
import type { Findings, Question, QuestionContext } from '../question.ts'
import { runBulk } from './bulk-load.ts'
import { drained } from './drained.ts'

/** The bound of src/stores/sqlite/journal.ts. */
const JOURNAL = '500,000 waiting'
const RATE = `d: NDJSON, result lines back while the journal has room (${JOURNAL})`
const WINDOW_MS = 600_000
const CONNECTIONS = 2
const DRAIN_WITHIN_MS = 60_000

interface Plan {
  warmUp: number
  first: number
  second: number
  /** What the second stream meets. */
  meets: string
}

const FULL: Plan = {
  warmUp: 100_000,
  first: 400_000,
  second: 600_000,
  meets: `past the journal's bound (${JOURNAL})`,
}
const QUICK: Plan = {
  warmUp: 20_000,
  first: 40_000,
  second: 60_000,
  meets: `still within the journal's bound (${JOURNAL})`,
}

export const bulk: Question = {
  letters: ['d'],
  title: 'bulk',
  bars: [{ name: RATE, unit: '/s', limit: { atLeast: 60_000 } }],
  seconds: (quick) => (quick ? 10 : 60),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const plan = quick ? QUICK : FULL
  const server = await processes.serve()
  const post = (lines: number, windowMs: number): Promise<number> => {
    progress(`streams ${lines.toLocaleString('en-US')} ticks`)
    return runBulk(processes, { server: server.url, lines, connections: CONNECTIONS, windowMs })
  }
  // Ticks that are due at once leave the pool as it was: empty.
  await post(plan.warmUp, 0)
  await drained(server.url, DRAIN_WITHIN_MS)
  const first = await post(plan.first, WINDOW_MS)
  const second = await post(plan.second, WINDOW_MS)
  await server.stop()
  const name = (lines: number): string => lines.toLocaleString('en-US')
  return {
    rows: [
      { name: `d: NDJSON, first ${name(plan.first)} ticks, due over 10 min`, value: first, unit: '/s' },
      { name: `d: NDJSON, ${name(plan.second)} more, ${plan.meets}`, value: second, unit: '/s' },
    ],
    values: { [RATE]: first },
  }
}
