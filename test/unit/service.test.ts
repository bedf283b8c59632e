import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Service } from '../../src/service.ts'

interface Watched {
  service: Service
  calls: string[]
  /** Lets the start that is under way end, or fail. */
  finish(error?: Error): void
}

function createWatched(): Watched {
  const calls: string[] = []
  const pending: ((error?: Error) => void)[] = []
  const service = new Service({
    name: 'watched',
    start: () => {
      calls.push('start')
      return new Promise((resolve, reject) => {
        pending.push((error) => (error === undefined ? resolve() : reject(error)))
      })
    },
    stop: async () => void calls.push('stop'),
  })
  return { service, calls, finish: (error) => pending.shift()?.(error) }
}

test('fifty starts at once are one', async () => {
  const { service, calls, finish } = createWatched()
  const starts = Array.from({ length: 50 }, () => service.start())
  assert.equal(service.state, 'starting')
  finish()
  await Promise.all(starts)
  await service.start()
  assert.deepEqual([service.state, calls], ['running', ['start']])
})

test('fifty stops at once are one', async () => {
  const { service, calls, finish } = createWatched()
  const start = service.start()
  finish()
  await start
  await Promise.all(Array.from({ length: 50 }, () => service.stop()))
  assert.deepEqual([service.state, calls], ['stopped', ['start', 'stop']])
})

test('a stop while it starts waits for the start, then stops', async () => {
  const { service, calls, finish } = createWatched()
  const start = service.start()
  const stop = service.stop()
  assert.deepEqual(calls, ['start'])
  finish()
  await Promise.all([start, stop])
  assert.deepEqual([service.state, calls], ['stopped', ['start', 'stop']])
})

test('a start that failed can be tried again', async () => {
  const { service, calls, finish } = createWatched()
  const first = service.start()
  finish(new Error('no room'))
  await assert.rejects(first, /no room/)
  assert.equal(service.state, 'failed')
  const second = service.start()
  finish()
  await second
  assert.deepEqual([service.state, calls], ['running', ['start', 'start']])
})

test('a stop without a start has nothing to do, and a stopped service does not start again', async () => {
  const { service, calls } = createWatched()
  await service.stop()
  assert.deepEqual([service.state, calls], ['stopped', []])
  await assert.rejects(service.start(), /does not start again/)
})

test('a stop that failed says so', async () => {
  const service = new Service({
    name: 'broken',
    start: () => Promise.resolve(),
    stop: () => Promise.reject(new Error('stuck')),
  })
  await service.start()
  await assert.rejects(service.stop(), /stuck/)
  assert.equal(service.state, 'failed')
})
