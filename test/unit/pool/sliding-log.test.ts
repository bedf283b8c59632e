import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SlidingLog } from '../../../src/pool/sliding-log.ts'
import { createRandom } from '../../../src/random.ts'

test('[L14] in no span of time do more start than may, and as many do within a thousandth of it', () => {
  const random = createRandom(3)
  for (const [count, perMs] of [
    [1, 100],
    [7, 1000],
    [50, 1000],
    [300, 60_000],
  ] as const) {
    const log = new SlidingLog(perMs)
    const starts: number[] = []
    for (let now = 0; now < 6 * perMs; now += random.next() * (perMs / 100)) {
      while (log.used(now) < count && random.below(3) > 0) {
        log.add(now)
        starts.push(now)
      }
    }
    for (const [nth, at] of starts.entries()) {
      const earlier = starts[nth - count]
      assert.ok(earlier === undefined || at - earlier > perMs, `${count} in ${perMs}: ${earlier} to ${at}`)
    }
    assert.ok(starts.length > 5 * count, `${starts.length} of ${6 * count}`)
  }
})

test('[L14] a full log tells when it has room', () => {
  const log = new SlidingLog(1000)
  assert.equal(log.freeAt(1), 0)
  assert.equal(log.freeAt(0), Infinity)
  log.add(10.5, 2)
  log.add(500)
  assert.deepEqual([log.freeAt(3), log.freeAt(2), log.freeAt(1)], [1011, 1011, 1501])
  assert.deepEqual([log.used(1010), log.used(1011), log.used(1501)], [3, 1, 0])
})
