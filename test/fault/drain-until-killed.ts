// node drain-until-killed.ts ADDRESS: works on the pool `work` of a store until somebody ends it. Every run that succeeds
// is given up as dead: so the store itself keeps a record of each settle, with the tally that it saw.
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'
import { dead } from '../../src/pool/answer.ts'

const race = await headrace({ store: process.argv[2] ?? '', lease: '1s', partitions: 8 })
race.work(
  race.pool('work'),
  async (_run, { signal }) => {
    await systemClock.sleep(systemClock.random() * 20, signal)
    if (systemClock.random() < 0.2) throw new Error('by chance')
    return dead('counted')
  },
  { concurrency: 8, retry: { attempts: 1000, first: 20, longest: 100 } },
)
await race.start()
process.stdout.write('ready\n')
