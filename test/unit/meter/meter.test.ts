// The numbers that a meter keeps of one member's telemetry.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from '../../../src/meter/histogram.ts'
import { Meter } from '../../../src/meter/meter.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

function createMeter(member: string) {
  const clock = new VirtualClock()
  const telemetry = createTelemetry(member)
  const meter = new Meter(telemetry, clock)
  /** The series of a metric as `label,label value` lines; of a histogram the value is its count. */
  const lines = (name: string): string[] => {
    const series = meter.metrics().find((metric) => metric.name === name)?.series ?? []
    return series.map(({ labels, value }) => {
      const number = value instanceof Histogram ? value.count : value
      return `${Object.values(labels).join()} ${number}`
    })
  }
  return { clock, telemetry, meter, lines }
}

test('puts are counted by pool and result', () => {
  const { telemetry, meter, lines } = createMeter('meter-puts')
  meter.listen()
  telemetry.emit('pool.put', { pool: 'a', created: 2, merged: 1, replaced: 0, kept: 0 })
  telemetry.emit('pool.put', { pool: 'a', created: 3, merged: 0, replaced: 0, kept: 4 })
  telemetry.emit('pool.put', { pool: 'b', created: 1, merged: 0, replaced: 0, kept: 0 })
  assert.deepEqual(
    lines('headrace_puts_total').filter((line) => !line.endsWith(' 0')),
    ['a,created 5', 'a,merged 1', 'a,kept 4', 'b,created 1'],
  )
  meter.close()
})

test('moved ticks are counted, and each one has its lateness recorded', () => {
  const { telemetry, meter, lines } = createMeter('meter-moves')
  meter.listen()
  telemetry.emit('ticks.moved', { pool: 'p', topic: 't', latenessMs: [1, 2, 3], tookMs: 4 })
  telemetry.emit('ticks.failed', { pool: 'p', error: null, retryInMs: 50 })
  assert.deepEqual(lines('headrace_ticks_moved_total'), ['p,t 3'])
  assert.deepEqual(lines('headrace_tick_lateness_seconds'), ['p 3'])
  assert.deepEqual(lines('headrace_tick_move_seconds'), ['p 1'])
  assert.deepEqual(lines('headrace_tick_failures_total'), ['p 1'])
  meter.close()
})

test('it counts once however often it listens, nothing of other members, and nothing once closed', () => {
  const { telemetry, meter, lines } = createMeter('meter-life')
  const append = { topic: 't', events: 1 }
  telemetry.emit('log.appended', append)
  meter.listen()
  meter.listen()
  telemetry.emit('log.appended', append)
  createTelemetry('meter-other').emit('log.appended', append)
  meter.close()
  telemetry.emit('log.appended', append)
  assert.deepEqual(lines('headrace_appended_total'), ['t 1'])
})

test('the uptime is in seconds', async () => {
  const { clock, lines } = createMeter('meter-uptime')
  await clock.advance(1500)
  assert.deepEqual(lines('headrace_uptime_seconds'), [' 1.5'])
})

test('the roster is metered: who leads, what is held, what moved, and what was refused', () => {
  const { telemetry, meter, lines } = createMeter('meter-roster')
  meter.listen()
  telemetry.emit('roster.joined', { id: 'a' })
  assert.deepEqual(lines('headrace_roster_leading'), [' 0'])
  telemetry.emit('roster.leading', { term: 1 })
  telemetry.emit('roster.held', { resource: 'pool/ticks', partitions: 32 })
  telemetry.emit('roster.held', { resource: 'pool/ticks', partitions: 16 })
  telemetry.emit('roster.granted', { resource: 'pool/ticks', partitions: 16 })
  telemetry.emit('roster.raised', { resource: 'pool/ticks', raised: 32, refused: 1 })
  telemetry.emit('roster.decided', { kind: 'decided', dead: 1, changes: 5 })
  telemetry.emit('fence.refused', { resource: 'pool/ticks', partitions: 2 })
  telemetry.emit('roster.failed', { error: null })
  assert.deepEqual(lines('headrace_roster_leading'), [' 1'])
  assert.deepEqual(lines('headrace_roster_partitions_held'), ['pool/ticks 16'])
  assert.deepEqual(lines('headrace_roster_moves_total'), ['pool/ticks 16'])
  assert.deepEqual(lines('headrace_roster_raises_total'), ['pool/ticks,raised 32', 'pool/ticks,refused 1'])
  assert.deepEqual(lines('headrace_roster_changes_total'), [' 5'])
  assert.deepEqual(lines('headrace_roster_deaths_total'), [' 1'])
  assert.deepEqual(lines('headrace_fence_refusals_total'), ['pool/ticks 2'])
  assert.deepEqual(lines('headrace_roster_failures_total'), [' 1'])
  telemetry.emit('roster.leading', { term: null })
  assert.deepEqual(lines('headrace_roster_leading'), [' 0'])
  meter.close()
})

test('a member that was declared dead, or has left, leads no more', () => {
  const { telemetry, meter, lines } = createMeter('meter-lost')
  meter.listen()
  for (const end of ['roster.lost', 'roster.left'] as const) {
    telemetry.emit('roster.leading', { term: 1 })
    telemetry.emit(end, { id: 'a' })
    assert.deepEqual(lines('headrace_roster_leading'), [' 0'])
  }
  assert.deepEqual(lines('headrace_roster_lost_total'), [' 1'])
  meter.close()
})
