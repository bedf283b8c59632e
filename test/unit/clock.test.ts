import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LAST_MOMENT, LONGEST_TIMER_MS, parseTime, systemClock, toIso } from '../../src/clock.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const readable: [text: string, iso: string][] = [
  ['2027-02-28T14:16:00Z', '2027-02-28T14:16:00.000Z'],
  ['2027-02-28t14:16:00z', '2027-02-28T14:16:00.000Z'],
  ['2027-02-28T14:16:00+01:00', '2027-02-28T13:16:00.000Z'],
  ['2027-02-28T23:30:00-05:30', '2027-03-01T05:00:00.000Z'],
  ['2027-02-28T14:16:00-00:00', '2027-02-28T14:16:00.000Z'],
  ['2027-02-28T14:16:00+23:59', '2027-02-27T14:17:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
  ['2027-12-31T00:00:00Z', '2027-12-31T00:00:00.000Z'],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['2027-01-01T00:00:00.5Z', '2027-01-01T00:00:00.500Z'],
  ['2027-01-01T00:00:00.123Z', '2027-01-01T00:00:00.123Z'],
  ['2027-01-01T00:00:00.1230000Z', '2027-01-01T00:00:00.123Z'],
  ['2027-01-01T00:00:00.1230001Z', '2027-01-01T00:00:00.124Z'],
  ['2027-01-01T00:00:59.9999999Z', '2027-01-01T00:01:00.000Z'],
  ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
]

for (const [text, iso] of readable) {
  test(`the time ${text} is ${iso}`, () => {
    assert.equal(toIso(parseTime(text) ?? Number.NaN), iso)
  })
}

const refused = [
  '2027-02-29T00:00:00Z',
  '2100-02-29T00:00:00Z',
  '2027-04-31T00:00:00Z',
  '2027-00-10T00:00:00Z',
  '2027-13-10T00:00:00Z',
  '2027-01-00T00:00:00Z',
  '2027-01-32T00:00:00Z',
  '2027-01-01T24:00:00Z',
  '2027-01-01T25:00:00Z',
  '2027-01-01T00:60:00Z',
  '2027-01-01T00:00:60Z',
  '2027-01-01T00:00:00+24:00',
  '2027-01-01T00:00:00+01:60',
  '2027-01-01T00:00:00+0100',
  '2027-01-01T00:00:00',
  '2027-01-01 00:00:00Z',
  '2027-01-01T00:00Z',
  '2027-01-01',
  '10000-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-00:01',
  '2027-01-01T00:00:00.Z',
  ' 2027-01-01T00:00:00Z',
  `2027-01-01T00:00:00.${'0'.repeat(60)}Z`,
  'now',
  '',
]

for (const text of refused) {
  test(`the text ${JSON.stringify(text.slice(0, 40))} is no time`, () => assert.equal(parseTime(text), null))
}

test('a sleep longer than the longest timer ends when it should', async () => {
  const clock = new VirtualClock()
  let awake = false
  const sleep = clock.sleep(3 * LONGEST_TIMER_MS + 5).then(() => (awake = true))
  await clock.advance(3 * LONGEST_TIMER_MS + 4)
  assert.equal(awake, false)
  await clock.advance(1)
  assert.equal(awake, true)
  await sleep
})

test('a sleep ends at once when its signal fires, and leaves no timer behind', async () => {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const sleep = clock.sleep(10 * LONGEST_TIMER_MS, stop.signal)
  await clock.advance(5)
  stop.abort()
  await sleep
  assert.equal(clock.now() < LAST_MOMENT && clock.pending, 0)
  await clock.sleep(1000, stop.signal)
})

test('the system clock arms no timer that overflows, and cancels', async () => {
  const fired: string[] = []
  const far = systemClock.timer(2 ** 40, () => fired.push('far'))
  const soon = systemClock.timer(1, () => fired.push('cancelled'))
  soon.cancel()
  await new Promise<void>((resolve) => systemClock.timer(3, resolve))
  far.cancel()
  assert.deepEqual(fired, [])
})

test('ids are 22 characters, safe in an address, and differ; random numbers lie in [0, 1)', () => {
  const ids = new Set(Array.from({ length: 1000 }, () => systemClock.id()))
  assert.equal(ids.size, 1000)
  for (const id of ids) assert.match(id, /^[\w-]{22}$/)
  const numbers = Array.from({ length: 1000 }, () => systemClock.random())
  assert.ok(numbers.every((number) => number >= 0 && number < 1))
})
