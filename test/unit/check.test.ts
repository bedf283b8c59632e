import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkChoice,
  checkKey,
  checkMoment,
  checkName,
  checkPartitions,
  checkPayload,
} from '../../src/check.ts'
import { LAST_MOMENT } from '../../src/clock.ts'

const invalid = (message: RegExp): object => ({ code: 'invalid_input', message })

for (const key of ['a', 'é'.repeat(256), '__proto__', ' ', '\u{10ffff}', 'a'.repeat(512)]) {
  test(`[E4] the key ${JSON.stringify(key.slice(0, 12))} is accepted as it is`, () => {
    assert.equal(checkKey(key), key)
  })
}

const badKeys: [key: unknown, message: RegExp][] = [
  ['', /key is empty/],
  ['a'.repeat(513), /513 bytes, the limit is 512/],
  ['é'.repeat(257), /514 bytes/],
  ['a'.repeat(10_000), /10000 bytes/],
  ['\ud800', /surrogate/],
  ['a\udc00b', /surrogate/],
  ['a\0b', /NUL/],
  [undefined, /missing/],
  [null, /null/],
  [7, /number/],
  [['a'], /list/],
  [{}, /object/],
]

for (const [key, message] of badKeys) {
  test(`[E4] a key that is ${String(message)} is refused`, () => {
    assert.throws(() => checkKey(key), invalid(message))
  })
}

test('[M3] moments are texts, milliseconds and dates, from the far past to the end of the year 9999', () => {
  assert.equal(checkMoment('2027-01-01T00:00:00Z'), 1_798_761_600_000)
  assert.equal(checkMoment(new Date(5)), 5)
  for (const at of [0, -1, LAST_MOMENT]) assert.equal(checkMoment(at), at)
})

test('[M3] a number that looks like seconds is refused, and a Date or a text of that time is not', () => {
  const seconds = 1_798_761_600
  const refused = { code: 'invalid_input', message: /looks like seconds/, remedy: /milliseconds.* or a Date/ }
  for (const at of [seconds, 1e8, 1e11 - 1]) assert.throws(() => checkMoment(at), refused)
  assert.equal(checkMoment(new Date(seconds)), seconds)
  assert.equal(checkMoment('1970-01-21T19:39:21.600Z'), seconds)
  for (const at of [1e11, 1e8 - 1, -seconds]) assert.equal(checkMoment(at), at)
})

const badMoments = [
  Number.NaN,
  Infinity,
  1.5,
  LAST_MOMENT + 1,
  'tomorrow',
  '',
  '1798761600000',
  new Date(Number.NaN),
  null,
  undefined,
  true,
  [],
]

for (const at of badMoments) {
  test(`[M3] ${Object.prototype.toString.call(at)} ${String(at)} is no moment`, () => {
    assert.throws(() => checkMoment(at), { code: 'invalid_input', remedy: /RFC 3339/ })
  })
}

test('[M9] a payload becomes JSON text, and undefined none', () => {
  assert.equal(checkPayload(undefined), undefined)
  assert.equal(checkPayload(null), 'null')
  assert.equal(checkPayload({ a: [1, 'é'] }), '{"a":[1,"é"]}')
})

function nested(levels: number): unknown {
  return levels === 0 ? 0 : { inner: nested(levels - 1) }
}

test('[M9] a payload may be 32 levels deep and no deeper, and cycles are refused', () => {
  assert.ok(checkPayload(nested(32)))
  assert.throws(() => checkPayload(nested(33)), invalid(/deeper than 32 levels/))
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  assert.throws(() => checkPayload(cycle), invalid(/deeper|JSON/))
})

test('[M9] a payload may have 1 MiB and no more, and must be something that JSON holds', () => {
  const most = 'x'.repeat(1024 * 1024 - 2)
  assert.equal(checkPayload(most)?.length, 1024 * 1024)
  assert.throws(() => checkPayload(`${most}x`), invalid(/1048577 bytes, the limit is 1048576/))
  assert.throws(() => checkPayload(() => 1), invalid(/function/))
  assert.throws(() => checkPayload(1n), invalid(/JSON/))
})

test('[E1] names and numbers of partitions are checked before the store sees them', () => {
  assert.equal(checkName('ticks.v2_x-1', 'pool'), 'ticks.v2_x-1')
  for (const name of ['', '.a', 'a/b', 'a b', 'é', 'a'.repeat(64)]) {
    assert.throws(() => checkName(name, 'pool'), { code: 'invalid_options' })
  }
  assert.equal(checkPartitions(1024, 'the pool a'), 1024)
  for (const partitions of [0, 1025, 1.5, Number.NaN]) {
    assert.throws(() => checkPartitions(partitions, 'the pool a'), { code: 'invalid_options' })
  }
})

test('a word that is not among the choices is refused, and the nearest suggested', () => {
  const lane = { name: 'lane', code: 'invalid_input' } as const
  const lanes = ['fanout', 'normal', 'bulk'] as const
  assert.equal(checkChoice('bulk', lanes, lane), 'bulk')
  const refused = (value: unknown, message: RegExp, remedy: RegExp): void =>
    assert.throws(() => checkChoice(value, lanes, lane), { code: 'invalid_input', message, remedy })
  refused('bluk', /^lane is "bluk"/, /^did you mean bulk\?$/)
  refused('urgent', /^lane is "urgent"/, /^choose fanout, normal, bulk$/)
  for (const value of [null, 7, ['bulk'], {}]) refused(value, /^lane is /, /^choose /)
})
