// What callers may ask of limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_CONTROL, changeLimits, checkPause } from '../../../src/pool/control.ts'

test('[L11] what is left out of a change of limits stays, and null lifts it', () => {
  const first = changeLimits(NO_CONTROL.limits, {
    group: { concurrency: 5, rate: { count: 10, per: '1s' } },
    pool: { concurrency: 9 },
  })
  assert.deepEqual(first.group, { concurrency: 5, rate: { count: 10, perMs: 1000 } })
  const spread = changeLimits(first, { group: { rate: { count: 10, per: '1s', spread: true } } })
  assert.deepEqual(spread.group.rate, { count: 10, perMs: 1000, spread: true })
  const burst = changeLimits(spread, { group: { rate: { count: 10, per: '1s', spread: false } } })
  assert.deepEqual(burst.group.rate, { count: 10, perMs: 1000 })
  const second = changeLimits(first, { group: { rate: null } })
  assert.deepEqual([second.group, second.pool], [{ concurrency: 5, rate: null }, first.pool])
  assert.deepEqual(changeLimits(second, { pool: null }).pool, { concurrency: null, rate: null })
})

test('[L11] limits that mean nothing are refused, and a wrong name is told', () => {
  const refused: [object, RegExp][] = [
    [{ group: { concurrency: 0 } }, /concurrency is 0/],
    [{ pool: { rate: { count: 1.5, per: '1s' } } }, /count is 1.5/],
    [{ pool: { rate: { count: 1, per: '2h' } } }, /per is 7200000 ms/],
    [{ pool: { rate: { count: 1, per: '1s', spread: 'yes' } } }, /spread/],
    [{ pool: { rate: { count: 1, per: '1s', spred: true } } }, /has no option "spred"/],
    [{ pool: { concurency: 1 } }, /has no option "concurency"/],
    [{ groups: {} }, /has no option "groups"/],
    [{ pool: { rate: { count: 1, per: 'soon' } } }, /limits\.pool\.rate\.per is "soon"/],
    [{ pool: { rate: { count: 1 } } }, /limits\.pool\.rate\.per is missing/],
    [{ group: { rate: { per: '1s' } } }, /limits\.group\.rate\.count is missing/],
    [{ group: { concurrency: '5' } }, /limits\.group\.concurrency is "5"/],
    [{ group: 5 }, /limits\.group are 5/],
    [{ pool: { rate: '50/1s' } }, /limits\.pool\.rate are "50\/1s"/],
    [{ pool: { rate: '' } }, /limits\.pool\.rate are ""/],
    [[], /limits are a list/],
  ]
  for (const [options, message] of refused) {
    assert.throws(() => changeLimits(NO_CONTROL.limits, options), message)
  }
})

test('[L12] a pause that means nothing is refused, and a wrong name is told', () => {
  const refused: [object, RegExp][] = [
    [{ by: 5 }, /by is 5/],
    [{ reason: null }, /reason is null/],
    [{ until: 'soon' }, /until is "soon"/],
    [{ untill: 0 }, /a pause has no option "untill"/],
  ]
  for (const [options, message] of refused) assert.throws(() => checkPause(options), message)
})
