import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkReader } from '../../../src/generator/chunks.ts'

const BODY = 'data: one\n\ndata: two\n\n'
const CHUNKED = '5\r\ndata:\r\n6;note=x\r\n one\n\n\r\nB\r\ndata: two\n\n\r\n'

function read(pieces: readonly string[]): string | null {
  const reader = new ChunkReader()
  let body = ''
  const hand = (part: string): void => void (body += part)
  return pieces.every((piece) => reader.take(piece, hand)) ? body : null
}

test('the framing of chunks is taken off', () => {
  assert.equal(read([CHUNKED]), BODY)
})

test('a chunk may be split anywhere, also within its size', () => {
  for (let cut = 1; cut < CHUNKED.length; cut++) {
    assert.equal(read([CHUNKED.slice(0, cut), CHUNKED.slice(cut)]), BODY, `cut at ${cut}`)
  }
  assert.equal(read(CHUNKED.split('')), BODY)
})

test('what is no chunk is refused', () => {
  assert.equal(read(['hello\r\n']), null)
  assert.equal(read(['5\r\ndata:oops\r\n']), null)
  assert.equal(read(['0'.repeat(300)]), null)
})
