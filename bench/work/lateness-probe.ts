// A process: items that fall due at a steady rate, each added a second before, and how late each one's handler starts.
import { systemClock } from '../../src/clock.ts'
import { answerParent, tellParent } from '../child.ts'
import { quantile } from '../measure.ts'
import { type Item, type Place, type Setting, nameOf } from './contestant.ts'
import { open } from './open.ts'

export interface LatenessProbeInput {
  setting: Setting
  place: Place
  perSecond: number
  seconds: number
  /** What falls due in it compiles code and fills caches, and is not counted. */
  warmUpMs: number
}

export interface Lateness {
  p50: number
  p99: number
}

const AHEAD_MS = 1000
const ADD_EVERY_MS = 25
const WITHIN_MS = 30_000

await answerParent(async (input: LatenessProbeInput): Promise<Lateness> => {
  const { setting, place, perSecond, seconds, warmUpMs } = input
  const contestant = await open(setting, place)
  const late: number[] = []
  let [started, countFrom] = [0, 0]
  await contestant.start((dueAt) => {
    started += 1
    if (dueAt !== null && dueAt >= countFrom) late.push(Date.now() - dueAt)
  })
  tellParent(`${nameOf(setting)}: works`)
  const count = perSecond * seconds + (perSecond * warmUpMs) / 1000
  const firstDueAt = Date.now() + AHEAD_MS
  countFrom = firstDueAt + warmUpMs
  const dueAtOf = (nth: number): number => Math.floor(firstDueAt + (nth * 1000) / perSecond)
  const adding: Promise<void>[] = []
  for (let next = 0; next < count;) {
    const items: Item[] = []
    while (next < count && dueAtOf(next) <= Date.now() + AHEAD_MS) {
      items.push({ key: `object-${next}`, dueAt: dueAtOf(next) })
      next += 1
    }
    if (items.length > 0) adding.push(contestant.add(items))
    await systemClock.sleep(ADD_EVERY_MS)
  }
  await Promise.all(adding)
  const deadline = systemClock.mono() + WITHIN_MS
  const isOver = (): boolean => started >= count || systemClock.mono() >= deadline
  while (!isOver()) await systemClock.sleep(ADD_EVERY_MS)
  if (started !== count) throw new Error(`${nameOf(setting)}: ${started} runs of ${count}`)
  await contestant.stop()
  if (setting.team === 'Headrace' && late.some((ms) => ms < 0)) throw new Error('a run was early')
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99) }
})
