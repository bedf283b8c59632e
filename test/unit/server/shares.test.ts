// /v1/shares over real HTTP: a collector in any language.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { headrace } from '../../../src/headrace.ts'
import { createServer } from '../../../src/server/app.ts'
import { residuesOf, startLeader } from '../roster/open-shares.ts'
import { type Answer, type Serving, ask, assertProblem } from './serving.ts'

interface Fleet extends Serving {
  lead(): Promise<void>
  /** Sends a body as JSON, if there is one. */
  send(method: string, path: string, body?: unknown): Promise<Answer>
}

/** A server whose Headrace does not run: nobody leads but the step of the test. */
async function open(t: TestContext): Promise<Fleet> {
  const race = await headrace({ store: 'memory:', partitions: 4 })
  const ticks = race.ticks()
  const server = createServer(race, ticks, { port: 0, drainWithin: 0 })
  const url = await server.listen()
  t.after(async () => {
    await server.close()
    await race.stop()
  })
  const serving = { race, ticks, server, url, port: Number(new URL(url).port) }
  const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
    ask(serving, method, `/v1/shares/${path}`, body === undefined ? {} : { body: JSON.stringify(body) })
  return { ...serving, lead: await startLeader(race.store), send }
}

async function join({ send }: Fleet, body?: unknown): Promise<string> {
  const { status, body: joined } = await send('POST', 'vms/collectors', body)
  assert.equal(status, 201, JSON.stringify(joined))
  return `vms/collectors/${String(joined['id'])}`
}

async function filterOf({ send }: Fleet, collector: string): Promise<string | null> {
  const { status, body } = await send('GET', `${collector}/filter`)
  assert.equal(status, 200, JSON.stringify(body))
  return body['filter'] as string | null
}

test('[Q4] a collector joins, is told its share, and leaves', async (t) => {
  const fleet = await open(t)
  const { status, body } = await fleet.send('POST', 'vms/collectors')
  const { id, expiresAt, ...joined } = body
  assert.deepEqual(joined, { filter: null, release: null, by: 'id', partitions: 32, epoch: 0, leaseMs: 3000 })
  assert.equal(status, 201)
  await fleet.lead()
  const asked = await fleet.send('GET', `vms/collectors/${String(id)}/filter?by=id`)
  assert.equal(asked.headers.get('cache-control'), 'no-store')
  assert.deepEqual([asked.body['filter'], asked.body['epoch']], ['32%0-31', 32])
  const expiry = Date.parse(String(asked.body['expiresAt']))
  assert.match(String(asked.body['expiresAt']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.ok(expiry >= Date.parse(String(expiresAt)))
  const left = await fleet.send('DELETE', `vms/collectors/${String(id)}`)
  assert.deepEqual([left.status, left.body], [200, { id, handedOver: 0 }])
})

test('[Q6] two collectors share, and the second gets nothing that the first still works on', async (t) => {
  const fleet = await open(t)
  const first = await join(fleet, { name: 'one', partitions: 8, by: 'hash' })
  await fleet.lead()
  assert.equal(await filterOf(fleet, first), '8%0-7')
  const second = await join(fleet, { by: 'hash' })
  await fleet.lead()
  assert.equal(await filterOf(fleet, second), null)
  const { body: beaten } = await fleet.send('POST', `${first}/heartbeat`)
  assert.equal(residuesOf(beaten['filter'] as string).length, 4)
  assert.equal(await filterOf(fleet, first), beaten['filter'])
  assert.equal(await filterOf(fleet, second), null)
  await fleet.send('POST', `${first}/heartbeat`, { release: beaten['release'] })
  const [one, two] = [await filterOf(fleet, first), await filterOf(fleet, second)]
  assert.deepEqual(new Set([...residuesOf(one), ...residuesOf(two)]), new Set([0, 1, 2, 3, 4, 5, 6, 7]))
  assert.equal((await fleet.send('DELETE', second)).body['handedOver'], 4)
  assert.equal(await filterOf(fleet, first), '8%0-7')
})

test('[Q9] finished passes become signals and a number of workers', async (t) => {
  const fleet = await open(t)
  const [first, second] = [await join(fleet), await join(fleet, { name: 'two', weight: 2 })]
  await fleet.lead()
  const finished = await fleet.send('POST', `${first}/finished`, { took: 12.5, had: 10 })
  assert.deepEqual([finished.body['load'], finished.body['signal']], [1.25, 'over'])
  await fleet.send('POST', `${second}/finished`, { took: 0, had: 10 })
  const { status, body } = await fleet.send('GET', 'vms')
  const { collectors, reasons, ...rest } = body
  assert.equal(status, 200)
  assert.deepEqual(rest, { share: 'vms', by: 'id', partitions: 32, epoch: 32, unserved: 0, recommended: 4 })
  assert.equal((reasons as string[]).length, 3)
  const rows = (collectors as Record<string, unknown>[]).map(({ name, signal, revoked }) => [
    name,
    signal,
    revoked,
  ])
  assert.deepEqual(new Set(rows.map((row) => row.join())), new Set(['collector,over,', 'two,under,']))
})

test('[Q5] a collector that is not there is a 404 that says to join again', async (t) => {
  const fleet = await open(t)
  await join(fleet)
  const calls: [method: string, path: string, body?: unknown][] = [
    ['GET', 'vms/collectors/leader/filter'],
    ['POST', 'vms/collectors/leader/heartbeat'],
    ['POST', 'vms/collectors/gone/finished', { took: 1, had: 1 }],
    ['DELETE', 'vms/collectors/leader'],
  ]
  for (const [method, path, body] of calls) {
    const answer = await fleet.send(method, path, body)
    assertProblem(answer, 404, 'collector_unknown')
    assert.match(String(answer.body['remedy']), /join again with POST \/v1\/shares\/vms\/collectors/)
  }
  assertProblem(await fleet.send('GET', 'other'), 404, 'share_unknown')
})

test('[Q1] what cannot be understood is a 400 that says what was expected, and what disagrees a 409', async (t) => {
  const fleet = await open(t)
  const one = await join(fleet)
  const calls: [path: string, body: unknown, status: number, detail: RegExp][] = [
    ['vms/collectors', { weight: 0 }, 400, /weight is not a whole number from 1 to 100/],
    ['vms/collectors', { partitions: 1025 }, 400, /partitions/],
    ['vms/collectors', { by: 'ids' }, 400, /by is "ids"/],
    ['vms/collectors', { wieght: 1 }, 400, /"wieght"/],
    ['vms/collectors', { name: 7 }, 400, /name must be a text/],
    ['vms/collectors', [], 400, /JSON object/],
    ['v%20ms/collectors', {}, 400, /share name/],
    ['vms/collectors?x=1', {}, 400, /parameter "x"/],
    ['vms/collectors', { by: 'hash' }, 409, /divided by id/],
    ['vms/collectors', { partitions: 31 }, 409, /32 partitions/],
    [`${one}/heartbeat`, { release: '12' }, 400, /release is "12", and not residues with their epochs/],
    [`${one}/heartbeat`, { release: 5 }, 400, /release must be a text/],
    [`${one}/heartbeat`, { filter: '32%1' }, 400, /"filter" that is not known/],
    [`${one}/finished`, { took: 1 }, 400, /had is not a number/],
    [`${one}/finished`, { took: -1, had: 1 }, 400, /took is not a number/],
    [`${one}/finished`, { took: 1, had: 0 }, 400, /had is 0/],
    [`${one}/finished`, undefined, 400, /took is not a number/],
  ]
  for (const [path, body, status, detail] of calls) {
    const answer = await fleet.send('POST', path, body)
    assert.deepEqual([answer.status, path], [status, path], JSON.stringify(answer.body))
    assert.match(String(answer.body['detail']), detail)
  }
  assertProblem(await fleet.send('GET', `${one}/filter?by=hash`), 409, 'resource_mismatch')
  assertProblem(await fleet.send('GET', `${one}/filter?by=name`), 400, 'invalid_input')
})

test('[Q11] a share is listed, refused to be removed while it is collected, and then removed', async (t) => {
  const fleet = await open(t)
  const list = async (): Promise<unknown> => (await ask(fleet, 'GET', '/v1/shares')).body['items']
  assert.deepEqual(await list(), [])
  const collector = await join(fleet, { partitions: 4 })
  await fleet.lead()
  const listed = { share: 'vms', by: 'id', partitions: 4, collectors: 1, expiresAt: null }
  assert.deepEqual(await list(), [listed])
  const refused = await fleet.send('DELETE', 'vms')
  assertProblem(refused, 409, 'share_in_use')
  assert.match(String(refused.body['remedy']), /DELETE \/v1\/shares\/NAME\/collectors\/ID/)
  await fleet.send('DELETE', collector)
  const removed = await fleet.send('DELETE', 'vms')
  assert.deepEqual([removed.status, removed.body], [200, { share: 'vms', partitions: 4 }])
  assert.deepEqual((await fleet.race.store.roster.view()).allotments, [])
  assertProblem(await fleet.send('DELETE', 'vms'), 404, 'share_unknown')
  assertProblem(await fleet.send('DELETE', 'v%20ms'), 400, 'invalid_options')
})

test('[Q12] one share more than there may be is a 409 that says what to do', async (t) => {
  const fleet = await open(t)
  for (let nth = 0; nth < 8; nth += 1) {
    const { status } = await fleet.send('POST', `s${nth}/collectors`, { partitions: 1024 })
    assert.equal(status, 201)
  }
  const refused = await fleet.send('POST', 'one-more/collectors')
  assertProblem(refused, 409, 'shares_full')
  assert.match(String(refused.body['detail']), /8192 residues/)
  assert.match(String(refused.body['remedy']), /DELETE \/v1\/shares\/NAME/)
})

test('the routes of shares describe themselves', async (t) => {
  const fleet = await open(t)
  const { body } = await ask(fleet, 'GET', '/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, { responses: object; requestBody: object }>>
  const route = paths['/v1/shares/{share}/collectors']?.['post']
  assert.ok(route !== undefined && '201' in route.responses && '409' in route.responses)
  assert.deepEqual((route.requestBody as { required: boolean }).required, false)
})
