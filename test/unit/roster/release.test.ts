import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONGEST_RELEASE, namedIn, parseRelease, printRelease } from '../../../src/roster/release.ts'

const held = (residues: number, epoch: number): { partition: number; epoch: number }[] =>
  Array.from({ length: residues }, (_, partition) => ({ partition, epoch }))

test('[Q6] the longest text of a release is read, and a longer one is refused by its length', () => {
  const all = held(1024, Number.MAX_SAFE_INTEGER - 1).map((one) => ({ ...one, epoch: 999_999_999_999_999 }))
  const text = printRelease(all) ?? ''
  assert.deepEqual(parseRelease(text), all)
  const long = Array.from({ length: 200_000 }, () => '1@1').join()
  assert.throws(() => parseRelease(long), {
    code: 'invalid_input',
    message: `release has ${long.length} characters, the limit is ${LONGEST_RELEASE}`,
  })
})

test('[Q6] what a collector names is released under the epoch that it names, and nothing else', () => {
  const released = parseRelease('1@7,2@6,9@7,1@7')
  assert.deepEqual(namedIn(held(4, 7), released), [{ partition: 1, epoch: 7 }])
  let steps = 0
  const counted = held(1024, 7).map((one) => ({
    epoch: one.epoch,
    get partition() {
      steps += 1
      return one.partition
    },
  }))
  assert.equal(namedIn(counted, held(1024, 7)).length, 1024)
  assert.ok(steps <= 4096, `${steps} looks at 1024 residues`)
})
