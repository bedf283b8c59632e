// Many puts, few runs: a debounce that ends, a throttle, and a run that sees every payload.
import { headrace } from 'headrace'

const race = await headrace({ store: 'memory:' })
const drafts = race.pool('drafts')
const feeds = race.pool('feeds', { throttle: '500ms' })
const mails = race.pool('mails', { payloads: 'all' })

/** Resolves when a pool has settled so many runs. */
function settled(pool: string, runs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = runs
  race.telemetry.on('work.settled', (batch) => {
    if (batch.pool === pool) left -= batch.settled
    if (left <= 0) resolve()
  })
  return promise
}

race.work<{ edit: number }>(drafts, ({ key, payload }) => {
  console.log(`${key}: saved once, with edit ${payload.edit}`)
})
race.work(feeds, ({ key, tally }) => console.log(`${key}: fetched for ${tally} puts`))
race.work<string>(mails, ({ key, payloads }) => console.log(`${key}: one mail about ${payloads.join(', ')}`))

// Each edit puts the save off by an hour, but no longer than a second since the first.
const saved = settled('drafts', 1)
for (let edit = 1; edit <= 5; edit += 1) {
  const wait = { in: '1h', longestWait: '1s' } as const
  const { result } = await drafts.put('draft-7', { ...wait, onConflict: 'replace', payload: { edit } })
  console.log(`edit ${edit}: ${result}`)
}
await mails.putAll(['a reply', 'a mention', 'a like'].map((payload) => ({ key: 'ann', payload })))
const mailed = settled('mails', 1)
await race.start()
await mailed
await saved

// The first put runs at once; those that come while the key rests share the next run.
const fetched = settled('feeds', 1)
await feeds.put('news')
await fetched
const again = settled('feeds', 1)
const outcomes = await feeds.putAll([{ key: 'news' }, { key: 'news' }, { key: 'news' }])
console.log(`news: ${outcomes.map(({ result }) => result).join(', ')}`)
await again
await race.stop()
