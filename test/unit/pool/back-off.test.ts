// How long failed runs wait, and what becomes of what handlers answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Answer,
  again,
  cancel,
  dead,
  done,
  outcomeOf,
  outcomeOfThrow,
  retry,
} from '../../../src/pool/answer.ts'
import { retryRules, waitMs } from '../../../src/pool/back-off.ts'

class Busy extends Error {}
class VeryBusy extends Busy {}

const rules = retryRules()
const context = { now: 5000, failures: 0, rules, random: 0 }

test('[X12] the wait doubles from the first up to the longest', () => {
  const few = retryRules({ attempts: 99, first: '1s', longest: '5s' })
  const waits = [1, 2, 3, 4, 50].map((failures) => waitMs({ failures, random: 0 }, few))
  assert.deepEqual(waits, [1000, 2000, 4000, 5000, 5000])
})

test('[X12] at most a half of the wait is taken off, by chance', () => {
  const waits = [0, 0.5, 0.999].map((random) => waitMs({ failures: 3, random }, rules))
  assert.deepEqual(waits, [4000, 3000, 2002])
})

test('[X12] the last attempt has no wait after it', () => {
  assert.equal(waitMs({ failures: 9, random: 0 }, rules), 256_000)
  assert.equal(waitMs({ failures: 10, random: 0 }, rules), null)
  assert.equal(waitMs({ failures: 1, random: 0 }, retryRules({ attempts: 1 })), null)
})

test('[X12] the first type that matches what was thrown gives its own limits, and the rest is as usual', () => {
  const errors = [
    { type: VeryBusy, first: '1m' as const },
    { type: Busy, first: '10s' as const, attempts: 2 },
    { type: TypeError, attempts: 1 },
  ]
  const own = retryRules({ attempts: 4, errors })
  const wait = (thrown: unknown, failures = 1): number | null => waitMs({ failures, thrown, random: 0 }, own)
  assert.deepEqual([wait(new VeryBusy()), wait(new Busy()), wait(new Busy(), 2)], [60_000, 10_000, null])
  assert.deepEqual([wait(new VeryBusy(), 3), wait(new VeryBusy(), 4)], [240_000, null])
  assert.deepEqual([wait(new TypeError()), wait(new Error()), wait('text', 3)], [null, 1000, 4000])
})

test('[X12] a number of attempts that is no whole number from 1 on is refused', () => {
  for (const attempts of [0, -1, 1.5, Number.NaN]) {
    assert.throws(() => retryRules({ attempts }), { code: 'invalid_options' })
    assert.throws(() => retryRules({ errors: [{ type: Error, attempts }] }), { code: 'invalid_options' })
  }
})

const answers: [title: string, answer: Answer | undefined, outcome: object][] = [
  ['nothing', undefined, { kind: 'done' }],
  ['done()', done(), { kind: 'done' }],
  ["again('2s')", again('2s'), { kind: 'again', dueAt: 7000 }],
  ['again({ in: 30 })', again({ in: 30 }), { kind: 'again', dueAt: 5030 }],
  ['again({ at })', again({ at: '1970-01-01T01:00:00Z' }), { kind: 'again', dueAt: 3_600_000 }],
  ['retry()', retry(), { kind: 'retry', dueAt: 6000 }],
  ['retry({ in })', retry({ in: '1m' }), { kind: 'retry', dueAt: 65_000 }],
  ['dead(reason)', dead('no such customer'), { kind: 'dead', reason: 'no such customer', error: null }],
  ['cancel()', cancel(), { kind: 'cancel' }],
]

for (const [title, answer, outcome] of answers) {
  test(`[X11] a handler that returns ${title} has the outcome ${JSON.stringify(outcome)}`, () => {
    assert.deepEqual(outcomeOf(answer, context), outcome)
  })
}

test('[X11] whatever else a handler of JavaScript returns is done', () => {
  const rows = [
    null,
    5,
    true,
    [],
    ['retry'],
    {},
    { id: 1, kind: 'invoice' },
    { id: 1, done: true },
    new Date(0),
  ]
  for (const answer of rows) {
    assert.deepEqual(outcomeOf(answer as unknown as Answer, context), { kind: 'done' })
  }
})

test('[X11] a text, a function, and an object that looks like an outcome and is none, are failures', () => {
  const outcomes = [{ outcome: 'dead' }, { kind: 'Retry', id: 1 }, { kind: 'other' }, { retry: '5m' }]
  const mistaken = [
    'dead',
    '',
    retry,
    () => undefined,
    ...outcomes,
    { kind: 'again' },
    { kind: 'again', when: '5m' },
  ]
  for (const answer of mistaken) {
    const refused = { message: /^the handler returned .+, which is no outcome: return done\(\), again/ }
    assert.throws(() => outcomeOf(answer as unknown as Answer, context), refused)
  }
})

test('[X11] what a handler throws is a failure, and at the last attempt the run is dead with it', () => {
  const first = outcomeOfThrow(new Busy('later'), context)
  assert.deepEqual([first.kind, 'dueAt' in first && first.dueAt], ['retry', 6000])
  assert.match(('error' in first && first.error) || '', /^Error: later\n {4}at /)
  const last = outcomeOfThrow(new Busy('later'), { ...context, failures: 9 })
  assert.ok(last.kind === 'dead' && last.reason === 'attempts')
  assert.match(last.error ?? '', /^Error: later\n {4}at /)
  assert.deepEqual(outcomeOf(retry('1s'), { ...context, failures: 9 }), {
    kind: 'dead',
    reason: 'attempts',
    error: null,
  })
})

test('[X12] what was thrown is kept as well-formed text of bounded length', () => {
  const last = { ...context, failures: 9 }
  const long = outcomeOfThrow(`${'x'.repeat(3999)}😀`, last)
  assert.ok(long.kind === 'dead' && long.error !== null)
  assert.deepEqual([long.error.length, long.error.isWellFormed()], [4001, true])
  assert.deepEqual(outcomeOfThrow(undefined, last), { kind: 'dead', reason: 'attempts', error: 'undefined' })
})
