// One of three members has a clock that is an hour off: the store's clock decides, so nothing is early, lost or twice.
import { join } from 'node:path'
import { Crew, type CrewVerdict, untilTime } from './crew.ts'

export interface WrongClock extends CrewVerdict {
  /** How many partitions the member had, and whether it led. */
  share: number
  led: boolean
  /** By how much ticks were moved after they were due, by the store's clock: the 99th percentile. */
  lateMs: number
}

const HOUR_MS = 3_600_000
const PRELOAD = join(import.meta.dirname, 'shift-clock.ts')

export interface WrongClockPlan {
  hours: number
  /** How long the load lasts, once everybody has a share. */
  forMs: number
  args?: readonly string[]
}

export async function wrongClock({ hours, forMs, args = [] }: WrongClockPlan): Promise<WrongClock> {
  await using crew = await Crew.open({ serve: { args } })
  const nodeArgs = ['--import', PRELOAD]
  const wrong = await crew.start({ nodeArgs, env: { SHIFT_MS: String(hours * HOUR_MS) } })
  await Promise.all([crew.start(), crew.start()])
  await crew.settled()
  await untilTime(performance.now() + forMs)
  const led = (await crew.leader()) === wrong
  const share = (await crew.allotments()).filter(({ name }) => name === wrong.name).length
  const verdict = await crew.judge()
  return { ...verdict, share, led, lateMs: await lateness(crew) }
}

async function lateness({ store }: Crew): Promise<number> {
  const [row] = await store.run(
    `select percentile_disc(0.99) within group (order by (headers::json ->> 'lateMs')::integer) as late
     from headrace.event`,
  )
  return Number(row?.['late'])
}
