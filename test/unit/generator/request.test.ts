import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRequestWriter } from '../../../src/generator/request.ts'

const TARGET = { host: '127.0.0.1:7400', token: null, itemsPrefix: 'item-', ids: 1000 }

function parse(request: string): { head: string; length: number; body: unknown } {
  const bytes = Buffer.from(request, 'latin1')
  const [head = ''] = request.split('\r\n\r\n')
  const length = Number(/content-length: (\d+)/.exec(head)?.[1])
  const body = bytes.subarray(head.length + 4)
  assert.equal(body.length, length)
  return { head, length, body: JSON.parse(body.toString('utf8')) }
}

test('a request carries the item and the time, and its content length is right', () => {
  const write = createRequestWriter(TARGET)
  const { head, body } = parse(write(7, Date.UTC(2027, 1, 28, 14, 16, 0, 5)))
  assert.match(head, /^POST \/ticks HTTP\/1\.1\r\nhost: 127\.0\.0\.1:7400\r\n/)
  assert.deepEqual(body, { item: 'item-007', at: '2027-02-28T14:16:00.005Z' })
})

test('every request of a target has the same length', () => {
  const write = createRequestWriter(TARGET)
  const lengths = [write(0, 0), write(999, Date.UTC(9999, 11, 31, 23, 59, 59, 999)), write(10, 1000)]
  assert.equal(new Set(lengths.map((request) => parse(request).length)).size, 1)
})

test('a prefix may hold quotes and any Unicode', () => {
  const write = createRequestWriter({ ...TARGET, itemsPrefix: 'é"\\💧' })
  assert.deepEqual(parse(write(1, 0)).body, { item: 'é"\\💧001', at: '1970-01-01T00:00:00.000Z' })
})

test('a token is sent as bearer', () => {
  const write = createRequestWriter({ ...TARGET, token: 'secret' })
  assert.match(parse(write(1, 0)).head, /\r\nauthorization: Bearer secret\r\n/)
})
