import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type ErrorCode, HeadraceError, createClient } from '../../../src/client/client.ts'
import { openServer } from './open-server.ts'

const AT = '2099-02-28T14:16:00.000Z'
const LATER = '2099-03-01T00:00:00.000Z'

const withCode =
  (code: ErrorCode) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof HeadraceError, String(error))
    assert.equal(error.code, code)
    assert.notEqual(error.remedy, null)
    return true
  }

test('a tick is added, found, moved and cancelled', async () => {
  await using server = await openServer()
  const { ticks } = createClient({ server: server.url })
  const item = 'user/1?é'
  assert.deepEqual(await ticks.add({ item, at: AT, payload: { a: 1 } }), { item, at: AT, result: 'created' })
  const { payload, state } = await ticks.get(item, AT)
  assert.deepEqual({ payload, state }, { payload: { a: 1 }, state: 'waiting' })
  assert.equal((await ticks.move(item, { from: AT, to: LATER })).at, LATER)
  assert.deepEqual(
    (await ticks.getAll(item)).items.map(({ at }) => at),
    [LATER],
  )
  assert.deepEqual(await ticks.cancel(item), { item, cancelled: 1, due: 0 })
  await assert.rejects(ticks.get(item, LATER), withCode('tick_unknown'))
})

test('many ticks are added at once and listed page by page', async () => {
  await using server = await openServer()
  const { ticks } = createClient({ server: server.url })
  const added = await ticks.addAll(['a', 'b', 'c'].map((item) => ({ item, at: new Date(AT) })))
  assert.deepEqual(
    added.map(({ result }) => result),
    ['created', 'created', 'created'],
  )
  const first = await ticks.list({ limit: 2, from: AT, before: LATER, state: 'waiting' })
  const second = await ticks.list({ limit: 2, after: first.next ?? '' })
  assert.deepEqual([...first.items, ...second.items].map(({ item }) => item).toSorted(), ['a', 'b', 'c'])
  assert.equal(second.next, null)
})

test('an idempotency key makes a repeat harmless', async () => {
  await using server = await openServer()
  const { ticks } = createClient({ server: server.url })
  const options = { idempotencyKey: 'k1' }
  const first = await ticks.add({ item: 'a', at: AT }, options)
  assert.deepEqual(await ticks.add({ item: 'a', at: AT }, options), first)
  await assert.rejects(ticks.add({ item: 'b', at: AT }, options), withCode('idempotency_mismatch'))
})

test('[I8] [I10] the verdict, the meter, and why a tick does not run yet are told', async () => {
  await using server = await openServer()
  const client = createClient({ server: server.url })
  await client.ticks.add({ item: 'bill', at: '2030-01-01T00:00:00.000Z' })
  assert.equal((await client.verdict()).status, 'ok')
  const { pools, window } = await client.meter({ window: '60s', lane: 'bulk' })
  assert.deepEqual([pools, window], [[], '60s'])
  const { state, reason, owner } = await client.why('bill', { at: '2030-01-01T00:00:00.000Z' })
  assert.deepEqual([state, reason, owner?.address], ['waiting', 'not_due', null])
})

test('topics and the status of a server are told', async () => {
  await using server = await openServer()
  const client = createClient({ server: `${server.url}/` })
  assert.deepEqual(
    (await client.topics.list()).items.map(({ name }) => name),
    ['ticks'],
  )
  assert.equal((await client.topics.get('ticks')).bounds.length, 4)
  const status = await client.status()
  assert.equal(status.ticks?.mode, 'each')
  await assert.rejects(client.topics.get('nope'), withCode('topic_unknown'))
})

test('an error is the one that the server sent, with its document', async () => {
  await using server = await openServer()
  const { ticks } = createClient({ server: server.url })
  await assert.rejects(
    ticks.addAll([
      { item: 'a', at: AT },
      { item: 'b', at: 'x' },
    ]),
    (error: unknown) => {
      withCode('invalid_input')(error)
      const { errors } = (error as HeadraceError).cause as { errors: { path: string }[] }
      assert.deepEqual(errors.map(({ path }) => path).toSorted(), ['[1].at'])
      return true
    },
  )
})

test('a token opens a server that asks for one', async () => {
  await using server = await openServer({ token: 'a-secret-of-16-chars' })
  await assert.rejects(createClient({ server: server.url }).status(), withCode('unauthorized'))
  const status = await createClient({ server: server.url, token: 'a-secret-of-16-chars' }).status()
  assert.equal(status.store, 'memory:')
})

test('a server that is not there is unreachable, and the remedy names serve', async () => {
  const client = createClient({ server: 'http://127.0.0.1:1' })
  await assert.rejects(client.status(), (error: unknown) => {
    withCode('server_unreachable')(error)
    return /headrace serve/.test((error as HeadraceError).remedy ?? '')
  })
})

test('an answer that never comes ends at the time limit', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  await assert.rejects(createClient({ server: url, timeout: 50 }).status(), withCode('server_unreachable'))
  silent.closeAllConnections()
  silent.close()
})

test('a refusal that is no problem document is server_refused', async () => {
  const other = createServer((_request, response) => response.writeHead(418).end('<h1>teapot</h1>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  await assert.rejects(createClient({ server: url }).status(), { code: 'server_refused', message: /418/ })
  other.closeAllConnections()
  other.close()
})

test('the roster, locks and findings are read and changed', async () => {
  await using server = await openServer({ name: 'm1' })
  const client = createClient({ server: server.url })
  const { members, overlap } = await client.roster.get()
  assert.deepEqual([members.map(({ name }) => name), overlap], [['m1'], 0])
  assert.equal((await client.roster.allotments({ resource: 'pool/ticks' })).items.length, 4)
  assert.equal((await client.roster.drain('m1')).draining, true)
  assert.equal((await client.roster.undrain('m1')).draining, false)
  assert.deepEqual((await client.roster.rebalance({ preview: true })).moves, [])
  assert.deepEqual((await client.roster.rebalance()).preview, false)
  assert.equal((await client.roster.stepDown()).steppedDown, true)
  await assert.rejects(client.roster.drain('a/b'), withCode('member_unknown'))
  assert.deepEqual(await client.locks(), { items: [] })
  assert.ok((await client.doctor()).findings.length > 5)
})
