// The streams of the client that are no topics: how a server is doing, and one entry.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../../src/client/client.ts'
import { openServer } from './open-server.ts'
import { openStream } from './open-stream.ts'

const AT = '2099-01-01T00:00:00.000Z'

test('[I7] a server is followed: its meter and its verdict, as its routes answer them', async () => {
  await using server = await openServer()
  const client = createClient({ server: server.url })
  const names: string[] = []
  for await (const told of client.stream()) {
    names.push(told.name)
    if (told.name === 'meter') assert.deepEqual([told.value.window, told.value.pools], ['1s', []])
    else assert.equal(typeof told.value.sentence, 'string')
    if (names.length === 4) break
  }
  assert.deepEqual(names, ['meter', 'verdict', 'meter', 'verdict'])
})

test('a stream of a server is opened again when the connection is lost', async () => {
  const verdict = (status: string): string => `event: verdict\ndata: {"status":"${status}"}\n\n`
  await using server = await openStream([verdict('ok'), verdict('busy')])
  const lost: unknown[] = []
  const seen: unknown[] = []
  const told = createClient({ server: server.url }).stream({ onLost: (error) => lost.push(error) })
  for await (const { value } of told) if (seen.push('status' in value && value.status) === 2) break
  assert.deepEqual([seen, lost.length], [['ok', 'busy'], 1])
})

test('an entry is followed from how it is until it is gone', async () => {
  await using server = await openServer()
  const { pools } = createClient({ server: server.url })
  await pools.make('vms')
  const vms = pools.of('vms')
  await vms.put({ key: 'a', at: AT })
  const entries = vms.follow('a')
  const first = await entries.next()
  assert.deepEqual([first.value?.key, first.value?.tally], ['a', 1])
  await vms.put({ key: 'a', at: AT })
  assert.equal((await entries.next()).value?.tally, 2)
  await vms.cancel('a')
  assert.equal((await entries.next()).done, true)
  await assert.rejects(vms.follow('a').next(), { code: 'entry_unknown' })
})

test('an entry that went while nobody was connected is gone', async () => {
  await using server = await openServer()
  const { pools } = createClient({ server: server.url })
  await pools.make('vms')
  const vms = pools.of('vms')
  await vms.put({ key: 'a', at: AT })
  const entries = vms.follow('a')
  await entries.next()
  await server.close()
  await using other = await openServer({ port: server.port })
  await createClient({ server: other.url }).pools.make('vms')
  assert.equal((await entries.next()).done, true)
})
