import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTelemetry } from '../../src/telemetry.ts'

test('two members of one process do not hear each other', () => {
  const left = createTelemetry('left')
  const right = createTelemetry('right')
  const heard: unknown[] = []
  const stops = [
    left.on('log.appended', (payload) => heard.push(payload)),
    right.on('log.appended', () => heard.push('right')),
  ]
  left.emit('log.appended', { topic: 'a', events: 2 })
  assert.deepEqual(heard, [{ topic: 'a', events: 2, member: 'left' }])
  for (const stop of stops) stop()
})

test('who stopped listening hears nothing more, and others still do', () => {
  const telemetry = createTelemetry('member')
  const heard: string[] = []
  const stop = telemetry.on('store.waited', () => heard.push('first'))
  const stopSecond = telemetry.on('store.waited', () => heard.push('second'))
  stop()
  telemetry.emit('store.waited', { waits: 1 })
  stopSecond()
  telemetry.emit('store.waited', { waits: 1 })
  assert.deepEqual(heard, ['second'])
})
