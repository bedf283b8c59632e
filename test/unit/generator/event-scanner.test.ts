import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventScanner } from '../../../src/generator/event-scanner.ts'

interface Sample {
  key?: string
  value?: object
  time: string
}

const event = ({ key = 'a', value = {}, time }: Sample): string =>
  `data: ${JSON.stringify({ partition: 0, offset: 1, id: `ticks/${key}`, key, value, headers: { lateMs: 0 }, time })}\n\n`

function scan(pieces: readonly string[]): { lateness: (number | null)[]; lastId: string | null } {
  const lateness: (number | null)[] = []
  const scanner = new EventScanner((lateMs) => lateness.push(lateMs))
  for (const piece of pieces) scanner.take(piece)
  return { lateness, lastId: scanner.lastId }
}

const at = '2027-02-28T23:59:59.990Z'
const STREAM = `: hello\n\n${event({ value: { item: 'a', at }, time: '2027-03-01T00:00:00.015Z' })}id: 0:2\n${event(
  {
    value: { item: 'b', at },
    time: at,
  },
)}`

test('the lateness of each event is its time minus its at, across midnight too', () => {
  assert.deepEqual(scan([STREAM]), { lateness: [25, 0], lastId: '0:2' })
})

test('the stream may be split anywhere', () => {
  for (let cut = 1; cut < STREAM.length; cut++) {
    const pieces = [STREAM.slice(0, cut), STREAM.slice(cut)]
    assert.deepEqual(scan(pieces), { lateness: [25, 0], lastId: '0:2' }, `cut at ${cut}`)
  }
})

test('texts that look like times do not confuse it', () => {
  const tricky = '"at":"1999-01-01T00:00:00.000Z","time":"1999-01-01T00:00:00.000Z"'
  const value = { item: tricky, at, payload: { note: tricky, time: '2001-01-01T00:00:00.000Z' } }
  assert.deepEqual(scan([event({ key: tricky, value, time: at })]).lateness, [0])
})

test('an event without these times is counted without a lateness', () => {
  assert.deepEqual(scan([event({ value: { hello: 1 }, time: at })]).lateness, [null])
  assert.deepEqual(scan(['data: {}\n\n', event({ value: { at }, time: at })]).lateness, [null, 0])
})

test('an id counts only when its event has ended, so that a cut event comes again', () => {
  const cut = `id: 0:3\n${event({ value: { at }, time: at })}`.slice(0, -1)
  assert.equal(scan([STREAM, cut]).lastId, '0:2')
})

test('a word of the server is no event of the topic', () => {
  assert.deepEqual(scan(['event: problem\ndata: {"code":"store_failed"}\n\n', STREAM]).lateness, [25, 0])
})

test('with a prefix only events of keys that begin with it are counted', () => {
  const prefix = 'é"run-1-'
  const lateness: (number | null)[] = []
  const scanner = new EventScanner((lateMs) => lateness.push(lateMs), { keyPrefix: prefix })
  for (const key of [`${prefix}07`, 'run-1-07', `x${prefix}07`, '"key":"é', '']) {
    const text = event({ key, value: { item: key, at }, time: at })
    scanner.take(Buffer.from(`id: 0:7\n${text}`).toString('latin1'))
  }
  assert.deepEqual([lateness, scanner.lastId], [[0], '0:7'])
})
