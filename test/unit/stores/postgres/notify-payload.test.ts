import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNotifyPayload } from '../../../../src/stores/postgres/notify-payload.ts'

test('a letter of another opening is read as hints, and one’s own as none', () => {
  const letter = JSON.stringify({ from: 'a', puts: [['work', 5]], topics: ['events'], roster: true })
  const hints = [
    { kind: 'put', pool: 'work', dueAt: 5 },
    { kind: 'appended', topic: 'events' },
    { kind: 'roster' },
  ]
  assert.deepEqual(readNotifyPayload(letter, 'b'), hints)
  assert.deepEqual(readNotifyPayload(letter, 'a'), [])
})

for (const text of [
  '',
  'x',
  'null',
  '5',
  '[]',
  '{}',
  '{"puts":5,"topics":{},"roster":"yes"}',
  '{"puts":[5,null,[],["work"],["work","5"],["work",null],["work",1e400],[1,2]],"topics":[5,null]}',
]) {
  test(`the notification ${text} is no hint, and harms nobody`, () => {
    assert.deepEqual(readNotifyPayload(text, 'a'), [])
  })
}
