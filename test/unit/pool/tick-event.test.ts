import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partitionOf } from '../../../src/partition.ts'
import { tickEvent } from '../../../src/pool/tick-event.ts'

const move = { now: 1_798_761_600_250, partitions: 8 }

test('[T3] the event of a slot speaks of the time that was asked for, and its lateness of the dueAt', () => {
  const tick = { key: 'user/1 "é"', slot: 1_798_761_500_000, dueAt: 1_798_761_600_000, payload: '{"n":1}' }
  assert.deepEqual(tickEvent('ticks', tick, move), {
    id: 'ticks/user/1 "é"/2026-12-31T23:58:20.000Z',
    key: 'user/1 "é"',
    partition: partitionOf('user/1 "é"', 8),
    value: '{"item":"user/1 \\"é\\"","at":"2026-12-31T23:58:20.000Z","payload":{"n":1}}',
    headers: '{"lateMs":250}',
  })
})

test('[T3] in mode one the dueAt stands for the time that was asked for', () => {
  const tick = { key: 'a', slot: null, dueAt: 1_798_761_600_000, payload: null }
  const { id, value } = tickEvent('ticks', tick, move)
  assert.equal(id, 'ticks/a/2027-01-01T00:00:00.000Z')
  assert.deepEqual(JSON.parse(value), { item: 'a', at: '2027-01-01T00:00:00.000Z' })
})
