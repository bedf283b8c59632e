// POST /ticks with a line per tick.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { HeadraceError } from '../../../src/errors.ts'
import { LATER, type Serving, fastClock, openWire, postLines, serve, until } from './serving.ts'

const line = (item: string): string => `{"item":"${item}","at":"${LATER}"}\n`
const HEAD =
  'POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** Lets the test hold back the store's puts. */
function gatePuts({ race }: Serving): { asked: number; open: () => void } {
  const { entries } = race.store.pool
  const put = entries.put.bind(entries)
  const gate = { asked: 0, open: (): void => undefined }
  const opened = new Promise<void>((resolve) => (gate.open = resolve))
  entries.put = async (pool, requests) => {
    gate.asked += requests.reduce((sum, { puts }) => sum + puts.length, 0)
    await opened
    return put(pool, requests)
  }
  return gate
}

test('every line has a result, in order, and blank lines are skipped', async (t) => {
  const serving = await serve(t)
  const answers = await postLines(serving, `${line('a')}\n  \r\n${line('b')}${line('a').trim()}`)
  assert.deepEqual(answers, [
    { line: 1, item: 'a', at: LATER, result: 'created' },
    { line: 4, item: 'b', at: LATER, result: 'created' },
    { line: 5, item: 'a', at: LATER, result: 'kept' },
  ])
})

test('broken JSON in line 3 is an error of line 3 alone', async (t) => {
  const serving = await serve(t)
  const answers = await postLines(serving, `${line('a')}${line('b')}{"item":\n${line('d')}`)
  assert.deepEqual(
    answers.map(({ line, result, error }) => [line, result ?? error?.code]),
    [
      [1, 'created'],
      [2, 'created'],
      [3, 'invalid_input'],
      [4, 'created'],
    ],
  )
  assert.equal((await serving.ticks.pool.count()).waiting, 3)
})

test('a line beyond 64 KiB and one that is no UTF-8 cost their neighbours nothing', async (t) => {
  const body = Buffer.concat([
    Buffer.from(line('a')),
    Buffer.from(line('x'.repeat(300_000))),
    Buffer.from([0xff, 0x0a]),
    Buffer.from(line('d')),
  ])
  const answers = await postLines(await serve(t), body)
  assert.deepEqual(
    answers.map(({ line, result }) => [line, result]),
    [
      [1, 'created'],
      [2, undefined],
      [3, undefined],
      [4, 'created'],
    ],
  )
  assert.match(answers[1]?.error?.detail ?? '', /65536/)
  assert.match(answers[2]?.error?.detail ?? '', /UTF-8/)
})

test('each line may reject a tick that exists, in mode one', async (t) => {
  const reject = `{"item":"a","at":"${LATER}","onConflict":"reject"}\n`
  const answers = await postLines(await serve(t, { mode: 'one' }), reject + reject)
  assert.deepEqual(
    answers.map(({ result, error }) => result ?? error?.code),
    ['created', 'tick_exists'],
  )
})

test('a line is answered while the next one is not yet written', async (t) => {
  const wire = await openWire(t, await serve(t))
  wire.socket.write(HEAD + chunk(line('a')))
  await wire.receives('"line":1')
  wire.socket.write(chunk(line('b')))
  await wire.receives('"line":2')
  wire.socket.write('0\r\n\r\n')
  await wire.receives('\r\n0\r\n\r\n')
})

test('when the store fails, its lines say so, and the stream goes on', async (t) => {
  const serving = await serve(t)
  const { entries } = serving.race.store.pool
  const put = entries.put.bind(entries)
  entries.put = () => Promise.reject(new HeadraceError('store_full', 'the disk is full'))
  const wire = await openWire(t, serving)
  wire.socket.write(HEAD + chunk(`${line('a')}nonsense\n`))
  await wire.receives('"line":2')
  assert.match(wire.received, /"line":1,"error":\{"code":"store_full"/)
  assert.match(wire.received, /"line":2,"error":\{"code":"invalid_input"/)
  entries.put = put
  wire.socket.write(chunk(line('c')))
  await wire.receives('"line":3,"item":"c"')
})

test('a slow store holds the sender back, and every line is answered at last', async (t) => {
  const serving = await serve(t)
  const gate = gatePuts(serving)
  const lines = 50_000
  const posted = postLines(serving, line('a').repeat(lines))
  await until(() => gate.asked > 0, 'the first puts')
  await serving.race.clock.sleep(300)
  assert.ok(gate.asked <= 5000, `${gate.asked} lines were taken while the store stood still`)
  gate.open()
  assert.equal((await posted).length, lines)
})

test('a client that reads nothing is not read from for ever', async (t) => {
  const serving = await serve(t)
  const { socket } = await openWire(t, serving)
  let tail = ''
  socket.removeAllListeners('data').pause()
  let puts = 0
  t.after(serving.race.telemetry.on('pool.put', ({ created, kept }) => (puts += created + kept)))
  const lines = 300_000
  socket.write(HEAD)
  socket.write(chunk(line('a').repeat(lines)))
  let before = -1
  while (before !== puts) {
    before = puts
    await serving.race.clock.sleep(300)
  }
  assert.ok(puts > 0 && puts < lines, `${puts} of ${lines} lines were taken`)
  socket.write('0\r\n\r\n')
  socket.on('data', (text: string) => (tail = (tail + text).slice(-1000))).resume()
  await until(() => tail.includes(`"line":${lines},`), 'the last answer', 20_000)
})

test('a client that falls silent is told so after 30 seconds, and others are not held up', async (t) => {
  const serving = await serve(t, {}, { clock: fastClock(100) })
  const wire = await openWire(t, serving)
  wire.socket.write(HEAD + chunk(`${line('a')}{"item":`))
  await wire.receives('"line":2,"error":{"code":"request_timeout"')
  assert.match(wire.received, /"line":1,"item":"a"/)
  if (!wire.closed) await once(wire.socket, 'close')
})

test('a client that waits for a slow store is not called silent', async (t) => {
  const serving = await serve(t, {}, { clock: fastClock(100) })
  const gate = gatePuts(serving)
  const wire = await openWire(t, serving)
  wire.socket.write(HEAD + chunk(line('a')))
  await until(() => gate.asked === 1, 'the put')
  await serving.race.clock.sleep(60_000)
  gate.open()
  await wire.receives('"line":1,"item":"a"')
  wire.socket.write(chunk(line('b')))
  await wire.receives('"line":2,"item":"b"')
})
