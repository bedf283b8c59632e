// Events are appended and read back: offsets without gaps in each partition, and order for each key.
import { headrace } from 'headrace'

const race = await headrace({ store: 'memory:' })
const orders = race.topic<{ step: string }>('orders', { partitions: 2 })

for (const step of ['placed', 'paid', 'sent']) {
  // All or nothing, in the order given.
  await orders.append(...['ada', 'bob', 'eve'].map((key) => ({ key, value: { step } })))
}

for (const { partition, oldest, head } of (await orders.status()).bounds) {
  console.log(`partition ${partition} holds offsets ${oldest} to ${head - 1}`)
  const { events } = await orders.read(partition, oldest)
  for (const { offset, key, value } of events) console.log(`  ${offset}  ${key} ${value.step}`)
}
await race.stop()
