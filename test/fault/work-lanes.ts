// node work-lanes.ts STORE: works on the pool `work` of a store, 10 handlers of 10 ms at once, until somebody ends it. Tells
// its parent of every handler that was called: its key, and when.
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'

const TAKES_MS = 10
const TELL_EVERY_MS = 50

process.once('disconnect', () => process.exit())
const race = await headrace({ store: process.argv[2] ?? '', lease: '3s' })
let calls: [key: string, at: number][] = []
race.work(
  race.pool('work'),
  async ({ key }) => {
    calls.push([key, Date.now()])
    await systemClock.sleep(TAKES_MS)
  },
  { concurrency: 10 },
)
await race.start()
setInterval(() => {
  if (calls.length > 0) process.send?.(calls)
  calls = []
}, TELL_EVERY_MS)
