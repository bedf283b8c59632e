// The life of a Headrace as a whole, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { HeadraceError } from '../../src/errors.ts'
import type { Headrace } from '../../src/headrace.ts'
import { changed, failingLog, openRace } from './open-race.ts'

const busy = new HeadraceError('store_busy', 'the store is locked')

async function clockTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => systemClock.turn(resolve))
}

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

test('a stop lets puts and appends under way end, then closes the store', async () => {
  const order: string[] = []
  const { race } = openRace((memory) => ({
    pool: {
      ...memory.pool,
      entries: changed(memory.pool.entries, {
        put: async (pool, requests) => {
          await clockTurns(3)
          order.push(`put ${pool}`)
          return memory.pool.entries.put(pool, requests)
        },
      }),
    },
    close: async () => void order.push('close'),
  }))
  await race.pool('opened').open()
  await race.start()
  const puts = ['opened', 'fresh'].map((name) => race.pool(name).put('a'))
  const append = race.topic('t').append({ key: 'a', value: 1 })
  await race.stop()
  assert.deepEqual(order.toSorted(), ['close', 'put fresh', 'put opened'])
  assert.equal(order.at(-1), 'close')
  assert.deepEqual(
    (await Promise.all(puts)).map(({ result }) => result),
    ['created', 'created'],
  )
  assert.equal((await append).length, 1)
})

test('after a stop every call is refused, of pools and topics from before and from after', async () => {
  const { race } = openRace()
  const pool = race.pool('before')
  const topic = race.topic('before')
  await race.start()
  await pool.put('a')
  await race.stop()
  const calls = [pool, race.pool('after')].flatMap((each) => [
    () => each.open(),
    () => each.put('b'),
    () => each.cancel('a'),
    () => each.reschedule('a', null, 0),
    () => each.get('a'),
    () => each.list({ limit: 1 }),
    () => each.count(),
  ])
  const reads = [topic, race.topic('after')].flatMap((each) => [
    () => each.open(),
    () => each.append({ key: 'a', value: 1 }),
    () => each.read(0),
    () => each.status(),
  ])
  for (const call of [...calls, ...reads]) await assert.rejects(call, { code: 'not_running' })
  await assert.rejects(race.start(), { code: 'not_running' })
})

test('a stop without a start closes the store', async () => {
  const { race, closed } = openRace()
  await race.stop()
  assert.deepEqual([race.state, closed()], ['stopped', true])
})

test('a start that met a busy store can be repeated, wherever it failed', async () => {
  for (const where of ['log', 'pulse'] as const) {
    let pulses = 0
    const { race, clock } = openRace((memory) => ({
      log: failingLog(memory, { error: busy, times: where === 'log' ? 1 : 0 }),
      pulse: (request) => {
        pulses += 1
        return where === 'pulse' && pulses === 1 ? Promise.reject(busy) : memory.pulse(request)
      },
    }))
    const ticks = race.ticks()
    await assert.rejects(race.start(), busy)
    assert.deepEqual([race.state, clock.pending], ['failed', 0])
    await race.start()
    await ticks.pool.put('a')
    await clock.advance(10)
    assert.deepEqual([where, race.state, await eventsOf(race, 'ticks')], [where, 'running', 1])
    await race.stop()
  }
})

test('a stop after a start that failed closes the store', async () => {
  const { race, closed } = openRace((memory) => ({ log: failingLog(memory, { error: busy, times: 1 }) }))
  race.ticks()
  await assert.rejects(race.start(), busy)
  await race.stop()
  assert.deepEqual([race.state, closed()], ['stopped', true])
})

test('two starts at once are one', async () => {
  let pulses = 0
  const { race } = openRace((memory) => ({
    pulse: (request) => {
      pulses += 1
      return memory.pulse(request)
    },
  }))
  await Promise.all([race.start(), race.start()])
  assert.deepEqual([race.state, pulses], ['running', 1])
  await race.stop()
})

test('a stop while it starts leaves nothing that runs', async () => {
  const { race, clock, closed } = openRace()
  race.ticks()
  const starting = race.start()
  await Promise.all([race.stop(), race.stop(), starting])
  assert.deepEqual([race.state, closed(), clock.pending], ['stopped', true, 0])
  assert.deepEqual(new Set(race.services().map(({ state }) => state)), new Set(['stopped']))
})

test('`await using` stops at the end of its block', async () => {
  const opened = openRace()
  {
    await using race = opened.race
    await race.start()
  }
  assert.deepEqual([opened.race.state, opened.closed()], ['stopped', true])
})

test('a pulse that fails once does no harm', async () => {
  let pulses = 0
  const { race, clock } = openRace((memory) => ({
    pulse: (request) => {
      pulses += 1
      return pulses === 2 ? Promise.reject(busy) : memory.pulse(request)
    },
  }))
  const ticks = race.ticks()
  await race.start()
  await clock.advance(900)
  assert.deepEqual([pulses, race.pulseAgeMs], [3, 300])
  await clock.advance(200)
  assert.deepEqual([pulses, race.pulseAgeMs, stateOf(race, 'pulse')], [4, 0, 'running'])
  await ticks.pool.put('a')
  await clock.advance(10)
  assert.equal(await eventsOf(race, 'ticks'), 1)
  await race.stop()
})
