import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ServerSentEvent, SseReader } from '../../../src/client/sse.ts'

const STREAM =
  ': hello\n\nid: 7\ndata: {"a":\ndata: 1}\n\ndata:two\r\n\r\nevent: problem\ndata: three\n\nid: 8\n\n'

function read(pieces: readonly string[]): ServerSentEvent[] {
  const reader = new SseReader()
  return pieces.flatMap((piece) => reader.take(piece)).filter(({ data, id }) => data !== null || id === '8')
}

const EXPECTED = [
  { id: '7', name: null, data: '{"a":\n1}' },
  { id: '7', name: null, data: 'two' },
  { id: '7', name: 'problem', data: 'three' },
  { id: '8', name: null, data: null },
]

test('events are read with their id and name; comments are not', () => {
  assert.deepEqual(read([STREAM]), EXPECTED)
})

test('the stream may be split anywhere', () => {
  for (let cut = 1; cut < STREAM.length; cut++) {
    assert.deepEqual(read([STREAM.slice(0, cut), STREAM.slice(cut)]), EXPECTED, `cut at ${cut}`)
  }
})

test('an event that has not ended is not handed out', () => {
  assert.deepEqual(read(['id: 1\ndata: half\n']), [])
})

test('a line without end is refused', () => {
  const reader = new SseReader()
  assert.throws(() => reader.take('x'.repeat(5 * 1024 * 1024)), /longer than/)
})
