// node work-and-note.ts STORE FILE: works on the pools `work` and `other` of a store until somebody ends it. Every handler
// first notes in the file which run was called, and by which process.
import { appendFileSync } from 'node:fs'
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'

process.once('disconnect', () => process.exit())
const [store = '', file = ''] = process.argv.slice(2)
const race = await headrace({ store, lease: '1s', partitions: 8 })
for (const name of ['work', 'other']) {
  race.work(
    race.pool(name),
    async ({ key }, { signal }) => {
      appendFileSync(file, `${name} ${key} ${process.pid}\n`)
      await systemClock.sleep(20, signal)
    },
    { concurrency: 2 },
  )
}
await race.start()
process.send?.('ready')
