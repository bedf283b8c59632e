import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/clock.ts'
import { Consumer } from '../../../src/generator/consumer.ts'
import { openStream } from '../client/open-stream.ts'

const AT = '2027-01-01T00:00:00.000Z'
const event = (offset: number): string =>
  `data: {"partition":0,"offset":${offset},"value":{"item":"a","at":"${AT}"},"time":"${AT}"}\n\n`

function follow(url: string, done: (count: number) => boolean): { ended: Promise<string[]> } {
  const { hostname, port, host } = new URL(url)
  const ended = Promise.withResolvers<string[]>()
  const lost: string[] = []
  let count = 0
  const look = (): void => {
    if (!done(count)) return
    consumer.close()
    ended.resolve(lost)
  }
  const consumer = new Consumer({
    host: hostname,
    port: Number(port),
    hostHeader: host,
    token: null,
    topic: 'ticks',
    clock: systemClock,
    event: () => {
      count += 1
      look()
    },
    lost: (reason) => {
      lost.push(reason)
      look()
    },
  })
  consumer.open()
  return { ended: ended.promise }
}

test('a consumer whose connection was cut goes on after the last event that had ended', async () => {
  await using server = await openStream([`id: 0:1\n${event(0)}id: 0:2\ndata: {"cut`, `id: 0:2\n${event(1)}`])
  const lost = await follow(server.url, (count) => count === 2).ended
  assert.deepEqual(server.lastEventIds, [undefined, '0:1'])
  assert.equal(lost.length, 1)
})

test('a consumer that finds no server says why', async () => {
  assert.deepEqual(await follow('http://127.0.0.1:1', () => true).ended, ['ECONNREFUSED'])
})
