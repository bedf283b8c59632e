// The witness of ownership must see what it is there for: every breach is planted once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Headrace, headrace } from '../../src/headrace.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { Audit, type OwnershipVerdict, breaches } from './audit.ts'

let server: PostgresServer
let race: Headrace
let audit: Audit

before(async () => {
  const started = (await startPostgres(18, { fsync: false })) ?? (await startPostgres(15, { fsync: false }))
  assert.ok(started !== null, 'there is no PostgreSQL here')
  server = started
  race = await headrace({ store: server.url() })
  await race.pool('ticks', { mode: 'each', partitions: 1 }).open()
  await race.topic('ticks').open()
  audit = await Audit.install(server)
})

after(async () => {
  await race?.stop()
  await server?.remove()
})

const put = () => race.pool('ticks').put('a', { at: Date.now() })
const claimOf = (owner: string, epoch: number) => ({ owner, held: [{ partition: 0, epoch }] })
const raise = (owner: string, epoch: number) => race.store.fences.raise('pool/ticks', claimOf(owner, epoch))
const move = (owner: string, epoch: number) =>
  race.store.mover.move({ pool: 'ticks', topic: 'ticks', limit: 10, claim: claimOf(owner, epoch) })

/** Deletes all entries by a claim, whatever the fence says. */
function plant(owner: string, { partition, epoch }: { partition: number; epoch: number }): Promise<unknown> {
  const claim = { resource: 'pool/ticks', owner, partitions: [partition], epochs: [epoch] }
  return server.run(
    `with said as (select set_config('headrace_audit.claim', $1, true)) delete from headrace.entry using said`,
    [JSON.stringify(claim)],
  )
}

/** What the verdict has more of after the work than before. */
async function grownBy(work: () => Promise<unknown>): Promise<Partial<OwnershipVerdict>> {
  const first = await audit.verdict()
  await work()
  const grown = Object.entries(await audit.verdict()).map(
    ([name, count]) => [name, Number(count) - first[name as keyof OwnershipVerdict]] as const,
  )
  return Object.fromEntries(grown.filter(([, more]) => more !== 0))
}

test('[P5] [Y9] a raise, an accepted move and a refused one are written down as what they are', async () => {
  assert.deepEqual(await grownBy(() => raise('x', 1)), { raises: 1 })
  assert.deepEqual(await grownBy(() => raise('x', 1)), {})
  assert.deepEqual(await grownBy(put), {})
  assert.deepEqual(await grownBy(() => move('x', 1)), { accepted: 1, wrote: 1 })
  assert.deepEqual(await grownBy(() => move('x', 1)), { accepted: 1 })
  assert.deepEqual(await grownBy(() => raise('y', 2)), { raises: 1 })
  await put()
  assert.deepEqual(await grownBy(() => move('x', 1)), { refused: 1 })
  assert.equal(breaches(await audit.verdict()), 0)
})

test('[P5] a stale write that lands, one beside its claim, and a second owner of an epoch are breaches', async () => {
  await raise('y', 2)
  await put()
  const stale = await grownBy(() => plant('x', { partition: 0, epoch: 1 }))
  assert.deepEqual(stale, { refused: 1, staleWrites: 1, outOfTime: 1 })
  await put()
  assert.deepEqual(await grownBy(() => plant('y', { partition: 7, epoch: 2 })), { refused: 1, strays: 1 })
  const second = await grownBy(() => server.run(`update headrace.fence set owner = 'z'`))
  assert.deepEqual(second, { raises: 1, raisesBack: 1 })
})

test('a take-over is measured to the first write of a later epoch, from the departure or from the last write', async () => {
  await raise('u', 10)
  const at = Date.now()
  await move('u', 10)
  assert.deepEqual(await audit.takenOver({ member: 'u', at, from: 'then' }), [Infinity])
  await raise('v', 11)
  await move('v', 11)
  const [fromThen = 0] = await audit.takenOver({ member: 'u', at, from: 'then' })
  const [fromLast = 0] = await audit.takenOver({ member: 'u', at, from: 'last write' })
  assert.ok(0 < fromLast && fromLast < fromThen && fromThen < 5000, `${fromLast} ${fromThen}`)
})
