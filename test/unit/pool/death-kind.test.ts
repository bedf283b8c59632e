import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '../../../src/pool/death-kind.ts'
import { createRandom } from '../../../src/random.ts'

const like = (error: string | null, reason = 'attempts'): string => kindOf({ reason, error }).id

test('[Z2] deaths whose errors differ in numbers and ids only are of one group', () => {
  const alike: [string, string][] = [
    ['Error: no vm 17', 'Error: no vm 4'],
    ['Error: user1234 is gone', 'Error: user7 is gone'],
    ['Error: took 12.5 s', 'Error: took 3.25 s'],
    [
      'Error: 2f1c9b1e-8a51-4b0e-9d5a-3b7f6f1f0a11 is unknown',
      'Error: 00000000-0000-4000-8000-000000000000 is unknown',
    ],
    ['Error: lost deadbeef01', 'Error: lost 99aabbccdd'],
    ['Error: token xK29_ab-LLmn0PqrsT expired', 'Error: token aaaaBBBBcccc1111_z expired'],
    ['Error: same\n    at a.ts:1:2', 'Error: same\n    at b.ts:3:4'],
  ]
  for (const [a, b] of alike) assert.equal(like(a), like(b), `${a} · ${b}`)
  assert.equal(like(null, 'gone 7'), like(null, 'gone 8'))
})

test('[Z2] another reason, name or word is another group', () => {
  const ids = [
    like('Error: no vm'),
    like('TypeError: no vm'),
    like('Error: no host'),
    like('Error: no vm', 'crashed'),
    like('Http404: no vm'),
    like('Http500: no vm'),
    like(null),
  ]
  assert.equal(new Set(ids).size, ids.length)
})

test('[Z2] a group shows its pattern, the name of the error as it is', () => {
  const { id, ...shown } = kindOf({ reason: 'attempts', error: 'Http404: no vm 17\n    at x.ts:1' })
  assert.deepEqual(shown, { reason: 'attempts', error: 'Http404: no vm #' })
  assert.match(id, /^[0-9a-f]{12}$/)
})

/** One pattern for all ids. It backtracks: its time grows with the square of the length. */
const MIXED = /\b(?=[\w-]*\d)[\w-]{16,}|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi

test('[Z2] ids are found as by one pattern, in texts of all kinds', () => {
  const random = createRandom(7)
  const parts = ['a', 'f0', '-', '_', ' ', 'deadbeef', '12', 'x', '--', 'é', '.', 'CAFE1234', 'zz9']
  for (let n = 0; n < 20_000; n++) {
    const length = 1 + random.below(12)
    const text = Array.from({ length }, () => random.pick(parts)).join('')
    const expected = text.replaceAll(MIXED, '#').replaceAll(/\d+/g, '#').trim()
    assert.equal(kindOf({ reason: text, error: null }).reason, expected, JSON.stringify(text))
  }
})

test('[Z2] a hostile error takes no longer than others do, and its pattern is short', () => {
  const time = (error: string): number => {
    const began = performance.now()
    for (let n = 0; n < 2000; n++) kindOf({ reason: 'threw', error })
    return performance.now() - began
  }
  const plain = 'Error: the host 12 of the zone 7 refused: '.repeat(8)
  time(plain)
  assert.ok(time(`E: ${'a-'.repeat(150)}`) < 8 * time(plain))
  const { error } = kindOf({ reason: 'threw', error: 'a'.repeat(1024 * 1024) })
  assert.ok((error ?? '').length <= 600)
})
