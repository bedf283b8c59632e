import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerReader } from '../../../src/generator/answer.ts'

const ANSWER =
  'HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"a":"\r\n\r\n"}'

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

test('a whole answer in one piece gives its status, again and again', () => {
  const reader = new AnswerReader()
  assert.equal(reader.take(bytes(ANSWER.replace('11', '12'))), 202)
  assert.equal(reader.take(bytes('HTTP/1.1 503 No\r\ncontent-length:0\r\n\r\n')), 503)
})

test('an answer may be split anywhere', () => {
  const answer = ANSWER.replace('11', '12')
  for (let cut = 1; cut < answer.length; cut++) {
    const reader = new AnswerReader()
    assert.equal(reader.take(bytes(answer.slice(0, cut))), 'more', `cut at ${cut}`)
    assert.equal(reader.take(bytes(answer.slice(cut))), 202, `cut at ${cut}`)
  }
})

test('an answer may come byte by byte', () => {
  const reader = new AnswerReader()
  const progress = ANSWER.replace('11', '12')
    .split('')
    .map((byte) => reader.take(bytes(byte)))
  assert.equal(progress.pop(), 202)
  assert.ok(progress.every((step) => step === 'more'))
})

test('more bytes than the content length, no content length and no HTTP are broken', () => {
  assert.equal(new AnswerReader().take(bytes(ANSWER)), 'broken')
  assert.equal(new AnswerReader().take(bytes('HTTP/1.1 202 Accepted\r\n\r\n')), 'broken')
  assert.equal(new AnswerReader().take(bytes('SSH-2.0\r\ncontent-length: 1\r\n\r\n')), 'broken')
  assert.equal(new AnswerReader().take(bytes('x'.repeat(20_000))), 'broken')
})

test('reset() forgets half an answer', () => {
  const reader = new AnswerReader()
  reader.take(bytes(ANSWER.slice(0, 90)))
  reader.reset()
  assert.equal(reader.take(bytes('HTTP/1.1 202 A\r\ncontent-length: 0\r\n\r\n')), 202)
})
