import assert from 'node:assert/strict'
import { test } from 'node:test'
import { likenessOf } from '../../../src/pool/death-group.ts'

const like = (error: string | null, reason = 'attempts'): string => likenessOf({ reason, error }).id

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
  const { id, ...shown } = likenessOf({ reason: 'attempts', error: 'Http404: no vm 17\n    at x.ts:1' })
  assert.deepEqual(shown, { reason: 'attempts', error: 'Http404: no vm #' })
  assert.match(id, /^[0-9a-f]{12}$/)
})
