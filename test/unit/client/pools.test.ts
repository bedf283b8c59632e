// Pools through the client, on a real server.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createClient } from '../../../src/client/client.ts'
import { openServer } from './open-server.ts'

const AT = '2099-02-28T14:16:00.000Z'

test('a pool is made and listed, and its keys are put, found and cancelled', async () => {
  await using server = await openServer()
  const { pools } = createClient({ server: server.url })
  const made = await pools.make('vms', { partitions: 2, deadFor: '1d' })
  const { paused, limits, ...settings } = made
  assert.deepEqual(settings, {
    name: 'vms',
    mode: 'one',
    partitions: 2,
    rememberMs: 0,
    deadForMs: 86_400_000,
    fansOut: false,
    throttleMs: 0,
    payloads: 'latest',
  })
  assert.deepEqual([paused, limits.pool], [null, { concurrency: null, rate: null }])
  const { items } = await pools.list()
  assert.deepEqual(
    items.map(({ name }) => name),
    ['ticks', 'vms'],
  )
  const vms = pools.of('vms')
  assert.deepEqual(await vms.settings(), made)
  const key = 'a/b?é'
  const put = { key, at: null, dueAt: AT, tally: 1, result: 'created' }
  assert.deepEqual(await vms.put({ key, at: new Date(AT), payload: [1] }, { idempotencyKey: 'k' }), put)
  assert.deepEqual(await vms.put({ key, at: new Date(AT), payload: [1] }, { idempotencyKey: 'k' }), put)
  const entry = await vms.get(key)
  assert.deepEqual([entry.tally, entry.payload, entry.state], [1, [1], 'waiting'])
  assert.deepEqual(await vms.cancel(key), { key, cancelled: 1, due: 0 })
  await assert.rejects(vms.get(key), { code: 'entry_unknown' })
  await assert.rejects(pools.make('vms', { mode: 'each' }), { code: 'pool_mismatch' })
  await assert.rejects(pools.of('vm').settings(), { code: 'pool_unknown', remedy: 'did you mean vms?' })
})

test('entries of a pool of mode each are named by their times, and listed by pages', async () => {
  await using server = await openServer()
  const { pools } = createClient({ server: server.url })
  await pools.make('reports', { mode: 'each' })
  const reports = pools.of('reports')
  const times = [AT, '2099-03-01T00:00:00.000Z']
  await reports.putAll(times.map((at) => ({ key: 'r', at })))
  assert.equal((await reports.get('r', AT)).at, AT)
  const first = await reports.list({ key: 'r', limit: 1, from: AT })
  const second = await reports.list({ key: 'r', after: first.next ?? '' })
  assert.deepEqual([first.items[0]?.at, second.items[0]?.at, second.next], [...times, null])
  assert.equal((await reports.cancel('r')).cancelled, 2)
})

test('a pool is paused and resumed, and its limits are changed', async () => {
  await using server = await openServer()
  const { pools } = createClient({ server: server.url })
  await pools.make('vms')
  const vms = pools.of('vms')
  const paused = await vms.pause({ by: 'ann', reason: 'provider is down', until: new Date(AT) })
  assert.deepEqual([paused.by, paused.reason, paused.until], ['ann', 'provider is down', AT])
  assert.deepEqual((await vms.settings()).paused, paused)
  assert.deepEqual([await vms.resume(), await vms.resume()], [{ resumed: true }, { resumed: false }])
  assert.equal((await vms.pause()).until, null)
  const limits = await vms.limit({ group: { concurrency: 5 }, pool: { rate: { count: 50, per: '1s' } } })
  const rate = { count: 50, perMs: 1000 }
  assert.deepEqual(limits, { group: { concurrency: 5, rate: null }, pool: { concurrency: null, rate } })
  assert.deepEqual(await vms.limits(), limits)
  assert.deepEqual((await vms.limit({ group: null })).group, { concurrency: null, rate: null })
  await assert.rejects(vms.limit({ pool: { concurrency: 0 } }), { code: 'invalid_options' })
  await assert.rejects(pools.of('vm').pause(), { code: 'pool_unknown', remedy: 'did you mean vms?' })
})

test('redrive and remove ask until the server has no further step', async () => {
  const asked: unknown[] = []
  const answers = [
    { redriven: 3, deaths: 3, entries: 1, next: 'c' },
    { redriven: 2, deaths: 2, entries: 0, next: null },
  ]
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answers[asked.length % 2]))
      asked.push([request.method, request.url, JSON.parse(text)])
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const vms = createClient({ server: `http://127.0.0.1:${port}` }).pools.of('vms')
  assert.deepEqual(await vms.redrive({ group: 'g' }), { redriven: 5 })
  assert.deepEqual(await vms.remove({ all: true }), { deaths: 5, entries: 1 })
  const path = '/v1/pools/vms/dead'
  assert.deepEqual(asked, [
    ['POST', `${path}/redrive`, { group: 'g' }],
    ['POST', `${path}/redrive`, { group: 'g', after: 'c' }],
    ['POST', `${path}/remove`, { all: true }],
    ['POST', `${path}/remove`, { all: true, after: 'c' }],
  ])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
