// A process: one contestant works off what was added before, and answers how many runs a second it did, from the first
// start after the warm-up until its store is empty.
import { systemClock } from '../../src/clock.ts'
import { answerParent, tellParent } from '../child.ts'
import { type Place, type Setting, nameOf } from './contestant.ts'
import { open } from './open.ts'
import { openQuiet } from './quiet.ts'

export interface RunProbeInput {
  setting: Setting
  place: Place
  warmUp: number
  runs: number
}

const ITEMS_PER_CALL = 1000
const POLL_MS = 2
const WITHIN_MS = 120_000

await answerParent(async ({ setting, place, warmUp, runs }: RunProbeInput): Promise<number> => {
  const contestant = await open(setting, place)
  const quiet = await openQuiet(place.address)
  for (let from = 0; from < warmUp + runs; from += ITEMS_PER_CALL) {
    await contestant.add(
      Array.from({ length: ITEMS_PER_CALL }, (_, nth) => ({ key: `object-${from + nth}`, dueAt: null })),
    )
  }
  tellParent(`${nameOf(setting)}: works`)
  let [count, began] = [0, 0]
  await contestant.start(() => {
    if (count === warmUp) began = systemClock.mono()
    count += 1
  })
  const deadline = systemClock.mono() + WITHIN_MS
  // The store is asked only at the end: reading it costs, and what matters is when the last run is settled. So the time at
  // which it was asked counts, not that of the answer.
  let askedAt = systemClock.mono()
  const isOver = async (): Promise<boolean> =>
    count >= warmUp + runs && (await quiet.isQuiet()) && (await contestant.left()) === 0
  while (!(await isOver())) {
    if (systemClock.mono() > deadline)
      throw new Error(`${nameOf(setting)}: ${count} runs of ${warmUp + runs} in time`)
    await systemClock.sleep(POLL_MS)
    askedAt = systemClock.mono()
  }
  const rate = (runs * 1000) / (askedAt - began)
  if (count !== warmUp + runs) throw new Error(`${nameOf(setting)}: ${count} runs of ${warmUp + runs}`)
  await contestant.stop()
  await quiet.end()
  return rate
})
