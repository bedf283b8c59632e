import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerReader } from '../../../src/generator/answer.ts'

const ANSWER =
  'HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"a":"\r\n\r\n"}'

/** The answers that each piece ended; null: it is no answer of ours. */
function take(reader: AnswerReader, piece: Buffer): number[] | null {
  const answers: number[] = []
  return reader.take(piece, (status) => void answers.push(status)) ? answers : null
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

test('a whole answer in one piece gives its status, again and again', () => {
  const reader = new AnswerReader()
  assert.deepEqual(take(reader, bytes(ANSWER.replace('11', '12'))), [202])
  assert.deepEqual(take(reader, bytes('HTTP/1.1 503 No\r\ncontent-length:0\r\n\r\n')), [503])
})

test('an answer may be split anywhere', () => {
  const answer = ANSWER.replace('11', '12')
  for (let cut = 1; cut < answer.length; cut++) {
    const reader = new AnswerReader()
    assert.deepEqual(take(reader, bytes(answer.slice(0, cut))), [], `cut at ${cut}`)
    assert.deepEqual(take(reader, bytes(answer.slice(cut))), [202], `cut at ${cut}`)
  }
})

test('an answer may come byte by byte', () => {
  const reader = new AnswerReader()
  const progress = ANSWER.replace('11', '12')
    .split('')
    .map((byte) => take(reader, bytes(byte)))
  assert.deepEqual(progress.pop(), [202])
  assert.ok(progress.every((step) => step?.length === 0))
})

test('answers that come one behind the other are told apart, wherever they are split', () => {
  const three = [202, 503, 202]
    .map((status) => `HTTP/1.1 ${status} A\r\ncontent-length: 5\r\n\r\nhello`)
    .join('')
  for (let cut = 0; cut <= three.length; cut++) {
    const reader = new AnswerReader()
    const told = [take(reader, bytes(three.slice(0, cut))), take(reader, bytes(three.slice(cut)))]
    assert.deepEqual(told.flat(), [202, 503, 202], `cut at ${cut}`)
  }
})

test('more bytes than the content length, no content length and no HTTP are broken', () => {
  assert.equal(take(new AnswerReader(), bytes(ANSWER)), null)
  assert.equal(take(new AnswerReader(), bytes('HTTP/1.1 202 Accepted\r\n\r\n')), null)
  assert.equal(take(new AnswerReader(), bytes('SSH-2.0\r\ncontent-length: 1\r\n\r\n')), null)
  assert.equal(take(new AnswerReader(), bytes('x'.repeat(20_000))), null)
})

test('reset() forgets half an answer', () => {
  const reader = new AnswerReader()
  take(reader, bytes(ANSWER.slice(0, 90)))
  reader.reset()
  assert.deepEqual(take(reader, bytes('HTTP/1.1 202 A\r\ncontent-length: 0\r\n\r\n')), [202])
})
