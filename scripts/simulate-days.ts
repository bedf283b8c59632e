// Days of one cluster's life in virtual time, told day by day; and whether memory stayed as it was after the first day.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../src/clock.ts'
import { DAY_MS, type LongLife, SETTINGS, liveLong } from '../src/lab/simulation/long-life.ts'

export interface DaysFlags {
  days: number
  seed: number
  json: boolean
}

/** The heap of a day may be so many times that of the first, each after a collection. */
const MOST_GROWTH = 1.25

/** 0: nothing was lost, early, twice, unasked or unanswered, and memory did not grow. */
export async function liveDays({ days, seed, json }: DaysFlags): Promise<number> {
  const began = systemClock.mono()
  const heaps: number[] = []
  const minutes = (): number => Number(((systemClock.mono() - began) / 60_000).toFixed(2))
  const told = ({ counts, crashes }: LongLife): void => {
    heaps.push(heapMb())
    const found = `${counts.lost} lost, ${counts.early} early, ${counts.twice} twice`
    say(
      `day ${heaps.length}: ${counts.ticks} ticks, ${found}, ${crashes} crashes, heap ${heaps.at(-1)} MB, ${minutes()} min`,
    )
  }
  say(`seed ${seed}: ${SETTINGS}`)
  const life = await liveLong({ seed, ms: days * DAY_MS, crashEveryMs: DAY_MS }, { told })
  const heap = { heapFirstMb: heaps[0] ?? 0, heapLastMb: heaps.at(-1) ?? 0, heapMaxMb: Math.max(...heaps) }
  const grew = heap.heapMaxMb > MOST_GROWTH * heap.heapFirstMb
  const report = { days, seed, ...life, minutes: minutes(), ...heap }
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : `${summary(report, grew)}\n`)
  const { lost, early, twice, phantom, unanswered } = life
  return lost + early + twice + phantom + unanswered === 0 && !grew ? 0 : 1
}

type Report = Awaited<ReturnType<typeof liveLong>> & {
  days: number
  minutes: number
  heapFirstMb: number
  heapLastMb: number
  heapMaxMb: number
}

function summary(report: Report, grew: boolean): string {
  const { days, ticks, fired, lost, early, twice, phantom, unanswered, crashes, takeovers, askedAgain } =
    report
  return [
    `${days} days in ${report.minutes} minutes: ${ticks} ticks, ${fired} of them fired and the others wait`,
    `${lost} lost, ${early} early, ${twice} twice, ${phantom} that nobody asked for; the latest ${report.latestMs} ms late`,
    `${crashes} crashes, ${takeovers} partitions taken over from the dead, ${askedAgain} puts asked for again, ${unanswered} never answered`,
    `heap ${report.heapFirstMb} MB after the first day, ${report.heapLastMb} MB after the last, ${report.heapMaxMb} MB at most; life ${report.hash}`,
    ...report.violations.map((violation) => `BROKEN: ${violation}`),
    ...(grew ? ['BROKEN: memory grew'] : []),
  ].join('\n')
}

/** What is in use after a collection. */
function heapMb(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return Number((process.memoryUsage().heapUsed / 2 ** 20).toFixed(1))
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
