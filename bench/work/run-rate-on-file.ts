// (a) on SQLite: how many runs of a handler that does nothing a second, in one process, on one file; and beside it which part
// of such a run's time goes into measuring it.
import { join } from 'node:path'
import { median } from '../measure.ts'
import type { Findings, Question, QuestionContext } from '../question.ts'
import { nameOf } from './contestant.ts'
import { OURS, OURS_WITHOUT_SIGNAL, sizeOf } from './plan.ts'
import type { RunProbeInput } from './run-probe.ts'

const RATE = 'a: runs a second on a file'
const ROUNDS = 3

export const runRateOnFile: Question = {
  letters: ['a'],
  title: 'run rate',
  bars: [{ name: RATE, unit: '/s', limit: { atLeast: 50_000 } }],
  seconds: (quick) => (quick ? 6 : 75),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const size = sizeOf(quick)
  const settings = quick ? [OURS] : [OURS, OURS_WITHOUT_SIGNAL]
  const rates = settings.map((): number[] => [])
  for (let round = 1; round <= (quick ? 1 : ROUNDS); round += 1) {
    for (const [nth, setting] of settings.entries()) {
      const place = { address: `sqlite:${processes.folder()}`, schema: 'bench' }
      const input: RunProbeInput = { setting, place, ...size }
      const program = join(import.meta.dirname, 'run-probe.ts')
      rates[nth]?.push(await processes.run<number>(program, input, progress))
    }
  }
  const rate = median(rates[0] as number[])
  const meterNs = await processes.run<number>(
    join(import.meta.dirname, 'meter-probe.ts'),
    { runs: size.runs },
    progress,
  )
  return {
    rows: [
      ...settings.map((setting, nth) => {
        return { name: `a: ${nameOf(setting)}`, value: median(rates[nth] as number[]), unit: '/s' }
      }),
      { name: 'a: rounds, the median of which counts', value: quick ? 1 : ROUNDS, unit: '' },
      { name: 'a: runs, after a warm-up', value: size.runs, unit: '' },
      { name: 'a: runs of the warm-up', value: size.warmUp, unit: '' },
      { name: 'a: telling the meter of a run', value: meterNs, unit: 'ns' },
      { name: 'a: part of a run’s time', value: (meterNs * rate) / 1e7, unit: '%' },
    ],
    values: { [RATE]: rate },
  }
}
