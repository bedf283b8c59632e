// A process that works on the pool `work` of a store until somebody ends it, or the run of the poison does.
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'

const [store = '', takes = '', concurrency = ''] = process.argv.slice(2)
const race = await headrace({ store, lease: '1s', partitions: 8 })
race.work(
  race.pool('work'),
  async ({ key }, { signal }) => {
    await systemClock.sleep(Number(takes) / (key === 'poison' ? 2 : 1), signal)
    if (key === 'poison') process.exit(7)
    signal.throwIfAborted()
  },
  { concurrency: Number(concurrency) },
)
await race.start()
