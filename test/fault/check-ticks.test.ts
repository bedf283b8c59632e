// The checker finds each kind of breach that was planted, and nothing in a history without one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Evidence, type Findings, type Outcome, type TopicEvent, checkTicks } from './check-ticks.ts'

const AT = Date.parse('2027-02-28T14:16:00Z')
const name = (item: string): string => `${item}/2027-02-28T14:16:00.000Z`

function post(item: string, outcome: Outcome = 'ok'): { item: string; at: number; outcome: Outcome } {
  return { item, at: AT, outcome }
}

function event(item: string, offset: number, changes: Partial<TopicEvent> = {}): TopicEvent {
  const value = JSON.stringify({ item, at: '2027-02-28T14:16:00.000Z' })
  return { partition: 0, offset, id: `ticks/${name(item)}`, value, time: AT, ...changes }
}

/** What the checker finds in a sound history into which `planted` was put. */
function find(planted: Partial<Evidence>): Findings {
  return checkTicks({
    posts: [post('a'), post('b')],
    events: [event('a', 0), event('b', 1)],
    waiting: new Set(),
    dueBefore: AT + 1,
    ...planted,
  })
}

const NOTHING: Findings = { lost: [], early: [], twice: [], phantom: [], gaps: [], stuck: [] }

test('a sound history has no findings, whatever became of an unanswered post', () => {
  assert.deepEqual(find({}), NOTHING)
  assert.deepEqual(find({ posts: [post('a'), post('b', 'info')] }), NOTHING)
  assert.deepEqual(find({ posts: [post('a'), post('b'), post('c', 'info'), post('d', 'fail')] }), NOTHING)
  assert.deepEqual(find({ dueBefore: AT, events: [event('a', 0)], waiting: new Set([name('b')]) }), NOTHING)
})

test('an acknowledged tick that is neither in the topic nor waiting is lost', () => {
  assert.deepEqual(find({ posts: [post('a'), post('b'), post('c')] }), { ...NOTHING, lost: [name('c')] })
})

test('an event a millisecond before its time is early', () => {
  const events = [event('a', 0), event('b', 1, { time: AT - 1 })]
  assert.deepEqual(find({ events }), { ...NOTHING, early: [name('b')] })
})

test('an id that stands twice in the topic is found, in another partition too', () => {
  const events = [event('a', 0), event('b', 1), event('b', 0, { partition: 3 })]
  assert.deepEqual(find({ events }), { ...NOTHING, twice: [`ticks/${name('b')}`] })
})

test('an event that nobody posted, or whose post was refused, is a phantom', () => {
  assert.deepEqual(find({ posts: [post('a')] }).phantom, [name('b')])
  assert.deepEqual(find({ posts: [post('a'), post('b', 'fail')] }).phantom, [name('b')])
  assert.deepEqual(find({ dueBefore: AT, waiting: new Set([name('c')]) }).phantom, [name('c')])
})

test('an event whose id is not its item and time is a phantom, and its tick lost', () => {
  const events = [event('a', 0), event('b', 1, { id: 'ticks/b' })]
  assert.deepEqual(find({ events }), { ...NOTHING, lost: [name('b')], phantom: ['ticks/b'] })
})

test('offsets that skip, repeat or do not begin with 0 are a gap', () => {
  for (const offsets of [
    [0, 2],
    [1, 2],
    [0, 0],
  ] as const) {
    const found = find({ events: [event('a', offsets[0]), event('b', offsets[1])] })
    assert.equal(found.gaps.length, 1, String(offsets))
  }
})

test('a tick that waits after its time is stuck', () => {
  const found = find({ posts: [post('a'), post('b'), post('c')], waiting: new Set([name('c')]) })
  assert.deepEqual(found, { ...NOTHING, stuck: [name('c')] })
})
