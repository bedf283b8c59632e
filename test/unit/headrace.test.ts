// The life of a Headrace as a whole, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../src/errors.ts'
import type { Headrace } from '../../src/headrace.ts'
import { failingLog, openRace } from './open-race.ts'

const busy = new HeadraceError('store_busy', 'the store is locked')

/** How many events a topic of one partition holds. */
async function eventsOf(race: Headrace, topic: string): Promise<number> {
  return (await race.topic(topic).status()).bounds[0]?.head ?? 0
}

function stateOf(race: Headrace, service: string): string | undefined {
  return race.services().find(({ name }) => name === service)?.state
}

test('ticks that are added while it starts do run', async () => {
  const { race, clock } = openRace()
  race.pool('first')
  const starting = race.start()
  race.ticks('early')
  await Promise.resolve()
  race.ticks('later')
  await starting
  race.ticks('last')
  for (const name of ['early', 'later', 'last']) {
    await race.ticks(name).pool.put('a')
    await clock.advance(10)
    assert.deepEqual([name, await eventsOf(race, name)], [name, 1])
  }
  assert.deepEqual(new Set(race.services().map(({ state }) => state)), new Set(['running']))
  await race.stop()
})

test('ticks that are added at any step of the start do run', async () => {
  for (let steps = 0; steps < 40; steps += 1) {
    const { race, clock } = openRace()
    const starting = race.start()
    for (let step = 0; step < steps; step += 1) await Promise.resolve()
    race.ticks('late')
    await starting
    await clock.settle()
    assert.equal(stateOf(race, 'ticks late'), 'running', `after ${steps} steps`)
    await race.stop()
  }
})

test('ticks that are added while it runs are opened again and again while the store is busy', async () => {
  const { race, clock } = openRace((memory) => ({ log: failingLog(memory, { error: busy, times: 3 }) }))
  await race.start()
  const failures: unknown[] = []
  const stop = race.telemetry.on('ticks.failed', ({ error, retryInMs }) => failures.push([error, retryInMs]))
  const ticks = race.ticks('late')
  await ticks.pool.put('a')
  await clock.advance(1000)
  assert.deepEqual(failures, [
    [busy, 50],
    [busy, 100],
    [busy, 200],
  ])
  assert.equal(await eventsOf(race, 'late'), 1)
  stop()
  await race.stop()
})

test('ticks that are added while it runs and are refused say so, and harm nothing else', async () => {
  const { race, clock } = openRace()
  await race.store.log.open({ name: 'late', partitions: 8, retentionMs: 1 })
  await race.start()
  const failures: unknown[] = []
  const stop = race.telemetry.on('ticks.failed', ({ error, retryInMs }) => {
    failures.push([error instanceof HeadraceError && error.code, retryInMs])
  })
  race.ticks('late')
  await clock.advance(10_000)
  assert.deepEqual(failures, [['topic_mismatch', null]])
  assert.deepEqual([stateOf(race, 'ticks late'), stateOf(race, 'pulse')], ['failed', 'running'])
  stop()
  await race.stop()
})

test('ticks that were added before the start and are refused fail the start', async () => {
  const { race } = openRace()
  await race.store.log.open({ name: 'ticks', partitions: 8, retentionMs: 1 })
  race.ticks()
  await assert.rejects(race.start(), { code: 'topic_mismatch' })
  await race.stop()
})
