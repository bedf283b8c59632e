// The events of the head, kept in memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '../../../../src/log/store.ts'
import { RecentEvents } from '../../../../src/stores/sqlite/recent-events.ts'

const asEvent = (partition: number, offset: number, value = '1'): LogEvent => ({
  partition,
  offset,
  id: `e${offset}`,
  key: 'k',
  value,
  headers: null,
  time: 0,
})

test('[L4] what was added without a gap is found by partition and offset, and nothing else is', () => {
  const recent = new RecentEvents(2)
  for (const offset of [5, 6, 7]) recent.add(asEvent(1, offset))
  assert.deepEqual(recent.at(1, 6), asEvent(1, 6))
  assert.deepEqual([recent.at(1, 4), recent.at(1, 8), recent.at(0, 6)], [undefined, undefined, undefined])
})

test('[L4] events that another process appended in between leave a gap, and what stands before it is forgotten', () => {
  const recent = new RecentEvents(1)
  for (const offset of [0, 1, 5, 6]) recent.add(asEvent(0, offset))
  assert.deepEqual([recent.at(0, 1), recent.at(0, 3)], [undefined, undefined])
  assert.deepEqual(recent.at(0, 5), asEvent(0, 5))
})

test('it keeps a bounded number of events and of characters, the newest ones', () => {
  for (const value of ['1', `"${'x'.repeat(100_000)}"`]) {
    const recent = new RecentEvents(1)
    for (let offset = 0; offset < 20_000; offset += 1) recent.add(asEvent(0, offset, value))
    const kept = Array.from({ length: 20_000 }, (_, offset) => recent.at(0, offset)).filter(Boolean)
    assert.ok(kept.length <= 8192 && kept.length * value.length <= 4 * 1024 * 1024, `${kept.length} events`)
    assert.deepEqual(recent.at(0, 19_999)?.offset, 19_999)
  }
})
