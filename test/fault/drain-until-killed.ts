// node drain-until-killed.ts ADDRESS SAW: works on the pool `work` of a store until somebody ends it. A run that succeeds is
// done, or given up as dead, by its key. Of either a line in the file SAW is written first, so that what leaves the store, and
// what its records of deaths say, can be held against what was seen.
import { appendFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'
import { dead } from '../../src/pool/answer.ts'
import { isDoneKey, sawLine } from './race-record.ts'

process.once('disconnect', () => process.exit())
const [address = '', saw = ''] = process.argv.slice(2)
const race = await headrace({ store: address, lease: '1s', partitions: 8 })
race.work(
  race.pool('work'),
  async ({ key, tally }, { signal }) => {
    await systemClock.sleep(systemClock.random() * 20, signal)
    if (systemClock.random() < 0.2) throw new Error('by chance')
    appendFileSync(saw, sawLine({ key, at: systemClock.now(), seen: tally }))
    return isDoneKey(key) ? undefined : dead('counted')
  },
  { concurrency: 8, retry: { attempts: 1000, first: 20, longest: 100 } },
)
await race.start()
process.stdout.write('ready\n')
