// node work-and-serve.ts serve --json --port 0 --store STORE: works on the pool `vms`, and serves itself; says where as
// `headrace serve` does. A run of the key `long` ends when its member does. Its lease is so long that it may stand still.
import { headrace } from '../../src/headrace.ts'
import { serve } from '../../src/server/server.ts'

const store = process.argv.at(process.argv.indexOf('--store') + 1)
const race = await headrace({ store, name: 'worker', partitions: 4, lease: '60s', drainWithin: 0 })
race.work(race.pool('vms'), ({ key }, { signal }) => {
  if (key !== 'long') return undefined
  return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
})
await race.start()
const served = await serve(race, { port: 0 })
process.stdout.write(`${JSON.stringify({ url: served.url })}\n`)
process.once('SIGTERM', () => void served.close().then(() => race.stop()))
