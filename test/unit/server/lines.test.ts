// The splitter of lines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONGEST_LINE_BYTES, type Line, LineSplitter } from '../../../src/server/lines.ts'

function split(...chunks: (string | Buffer)[]): Line[] {
  const splitter = new LineSplitter()
  return [...chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk))), ...splitter.end()]
}

const texts = (lines: Line[]): (string | null)[] => lines.map(({ text, flaw }) => text ?? flaw)

test('lines are the same however the bytes are cut', () => {
  const bytes = Buffer.from('one\ntwö\n\n€uro\nlast')
  const whole = split(bytes)
  assert.deepEqual(texts(whole), ['one', 'twö', '', '€uro', 'last'])
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(split(bytes.subarray(0, cut), bytes.subarray(cut)), whole, `cut at ${cut}`)
  }
  assert.deepEqual(split(...[...bytes].map((byte) => Buffer.from([byte]))), whole)
})

test('lines are counted from 1, blank ones included', () => {
  assert.deepEqual(
    split('a\n\nb\n').map(({ number }) => number),
    [1, 2, 3],
  )
})

test('a line of the limit is read, and one byte more is not', () => {
  const limit = 'x'.repeat(LONGEST_LINE_BYTES)
  assert.deepEqual(texts(split(`a\n${limit}\nb\n`)), ['a', limit, 'b'])
  assert.deepEqual(texts(split(`a\n${limit}x\nb\n`)), ['a', 'too-long', 'b'])
  assert.deepEqual(texts(split(`a\n${limit}`, 'x', 'x\nb\n')), ['a', 'too-long', 'b'])
  assert.deepEqual(texts(split(`${limit}x`)), ['too-long'])
})

test('the limit counts bytes, not characters', () => {
  assert.deepEqual(texts(split(`${'€'.repeat(22_000)}\n`)), ['too-long'])
})

test('a line that is no UTF-8 leaves its neighbours alone', () => {
  const bytes = Buffer.concat([Buffer.from('ä\n'), Buffer.from([0xff, 0x0a]), Buffer.from('ö\n')])
  assert.deepEqual(texts(split(bytes)), ['ä', 'not-utf8', 'ö'])
})
