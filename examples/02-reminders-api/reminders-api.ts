// Reminders over HTTP: schedule, repeat safely, move, cancel, and watch them arrive.
import { createClient, HeadraceError } from 'headrace/client'

interface Reminder {
  item: string
  at: string
  payload: { text: string }
}

const { ticks, topics } = createClient({ server: process.env['HEADRACE_SERVER'] ?? 'http://127.0.0.1:7400' })
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

// A new name for each run of this example: a reminder is its item and its time.
const run = crypto.randomUUID().slice(0, 8)
const ada = { item: `ada-${run}`, at: inSeconds(3600), payload: { text: 'call the dentist' } }
const bob = { item: `bob-${run}`, at: inSeconds(3600), payload: { text: 'water the plants' } }

// Scheduled. A repeat with the same key is the same request; without one the reminder is simply there already.
const idempotencyKey = `reminder-${run}`
console.log('schedule ada:', (await ticks.add(ada, { idempotencyKey })).result)
console.log('the same request again:', (await ticks.add(ada, { idempotencyKey })).result)
console.log('the same reminder again:', (await ticks.add(ada)).result)

const other = { ...ada, payload: { text: 'something else' } }
const refused = await ticks.add(other, { idempotencyKey }).catch((error: unknown) => error)
console.log('another body under that key:', refused instanceof HeadraceError ? refused.code : refused)

console.log('schedule bob:', (await ticks.add(bob)).result)
console.log('cancel bob:', (await ticks.cancel(bob.item, bob.at)).cancelled)

const moved = await ticks.move(ada.item, { from: ada.at, to: inSeconds(1) })
console.log('move ada to in a second:', moved.result)

// From the oldest event on, so that this one cannot be missed.
for await (const { value } of topics.follow<Reminder>('ticks', { from: 'oldest' })) {
  if (value.item !== ada.item) continue
  console.log('arrived:', value.payload.text)
  break
}
