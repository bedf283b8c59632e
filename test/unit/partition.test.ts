// The vectors are those of Kafka's own test: UtilsTest.testMurmur2.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { murmur2, partitionOf } from '../../src/partition.ts'

const vectors: [text: string, hash: number][] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
]

for (const [text, hash] of vectors) {
  test(`[E3] murmur2 of ${text} is Kafka's`, () => assert.equal(murmur2(Buffer.from(text)), hash))
}

test('[E3] a negative hash is made positive by its sign bit, not by its absolute value', () => {
  assert.equal(partitionOf('21', 32), (-973932308 & 0x7fffffff) % 32)
  assert.equal(partitionOf('foobar', 7), (-790332482 & 0x7fffffff) % 7)
})

test('[E3] keys spread over all partitions', () => {
  const counts = new Array<number>(16).fill(0)
  for (let key = 0; key < 16_000; key += 1) {
    const partition = partitionOf(`key-${key}`, 16)
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  assert.ok(
    counts.every((count) => count > 850 && count < 1150),
    counts.join(' '),
  )
})
