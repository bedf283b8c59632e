// A worker on a pool: one key succeeds at once, one at its third attempt, one never. Asking twice is working once.
import { dead, headrace } from 'headrace'

const race = await headrace({ store: 'memory:' })
const mails = race.pool('mails')

race.work<{ to: string }>(
  mails,
  async ({ key, payload, tally }, { attempt }) => {
    if (payload.to === '') return dead('no address')
    if (key === 'bob' && attempt < 3) throw new Error('the mail server is busy')
    console.log(`${key}: sent to ${payload.to} at attempt ${attempt}, for ${tally} puts`)
    return undefined
  },
  { concurrency: 1, retry: { attempts: 5, first: '100ms' } },
)

race.telemetry.on('run.failed', ({ key, attempt, error, isDead }) => {
  const why = error instanceof Error ? error.message : isDead ? 'it is given up' : 'it is to be tried again'
  console.log(`${key}: attempt ${attempt} failed: ${why}`)
})
const finished = new Promise<void>((resolve) => {
  let settled = 0
  race.telemetry.on('work.settled', (batch) => {
    settled += batch.settled
    if (settled === 5) resolve()
  })
})

await mails.putAll([
  { key: 'ann', payload: { to: 'ann@example.org' } },
  { key: 'ann', payload: { to: 'ann@example.com' } },
  { key: 'bob', payload: { to: 'bob@example.com' } },
  { key: 'eve', payload: { to: '' } },
])
await race.start()
await finished
console.log('what is left:', await mails.count())
await race.stop()
