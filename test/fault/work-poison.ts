// node work-poison.ts STORE TAKES CONCURRENCY FILE: works on the pool `work` of a store until somebody ends it, or the run of
// the poison does. A run that does no harm notes its key in the file when it has ended.
import { appendFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'

process.once('disconnect', () => process.exit())
const [store = '', takes = '', concurrency = '', file = ''] = process.argv.slice(2)
const race = await headrace({ store, lease: '1s', partitions: 8 })
race.work(
  race.pool('work'),
  async ({ key }, { signal }) => {
    await systemClock.sleep(Number(takes) / (key === 'poison' ? 2 : 1), signal)
    if (key === 'poison') process.exit(7)
    signal.throwIfAborted()
    appendFileSync(file, `${key}\n`)
  },
  { concurrency: Number(concurrency) },
)
await race.start()
