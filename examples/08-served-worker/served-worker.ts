// A process that works and serves itself: whoever asks it why a key does not run learns what only its worker knows.
import { headrace } from 'headrace'
import { createClient } from 'headrace/client'
import { serve } from 'headrace/server'

await using race = await headrace({ store: 'memory:', name: 'worker' })
const vms = race.pool('vms')
const gate = Promise.withResolvers<void>()
const started = Promise.withResolvers<void>()
race.work(
  vms,
  async () => {
    started.resolve()
    await gate.promise
  },
  { concurrency: 1 },
)
await race.start()
await using served = await serve(race, { port: 0 })

await vms.put('vm-1')
await started.promise
await vms.put('vm-2')

const client = createClient({ server: served.url })
for (const key of ['vm-1', 'vm-2', 'vm-3']) {
  const { state, reason, sentence } = await client.why(key)
  console.log(`${key}: ${state}${reason === null ? '' : `, ${reason}`}: ${sentence}`)
}
const { pools } = await client.meter()
console.log('the meter:', pools.map(({ pool, running }) => `${pool} runs ${running}`).join(', '))
const metrics = await (await fetch(`${served.url}/metrics`)).text()
console.log('the metrics:', metrics.match(/^headrace_concurrency.*$/m)?.[0])
gate.resolve()
