// headrace(): what a name hands out, and what it refuses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Headrace, headrace } from '../../src/headrace.ts'

const open = (): Promise<Headrace> => headrace({ store: 'memory:' })

test('a put with an unknown lane or rule is refused before it reaches the store', async () => {
  await using race = await open()
  const pool = race.pool('work')
  const lane = { code: 'invalid_input', message: /^lane is "urgent"/ }
  await assert.rejects(pool.put('a', { lane: 'urgent' as never }), lane)
  const rule = { code: 'invalid_input', message: /^onConflict is "replcae"/, remedy: 'did you mean replace?' }
  await assert.rejects(pool.put('a', { onConflict: 'replcae' as never }), rule)
  assert.deepEqual(await pool.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
})

test('a pool with an unknown mode is refused', async () => {
  await using race = await open()
  const refusal = { code: 'invalid_options', message: /mode of the pool work is "ech"/ }
  assert.throws(() => race.pool('work', { mode: 'ech' as never }), refusal)
})

test('[E1] a known pool is handed out again, and refused with other settings', async () => {
  await using race = await open()
  const pool = race.pool('work', { mode: 'each', partitions: 4, remember: '1m' })
  assert.equal(race.pool('work'), pool)
  assert.equal(race.pool('work', { mode: 'each', partitions: 4, remember: 60_000 }), pool)
  for (const other of [{ mode: 'one' }, { partitions: 5 }, { remember: '2m' }] as const) {
    assert.throws(() => race.pool('work', other), { code: 'pool_mismatch' })
  }
})

test('[M13] a known pool is refused with another throttle, and one in mode each with any', async () => {
  await using race = await open()
  const pool = race.pool('work', { throttle: '10s' })
  assert.equal(race.pool('work', { throttle: 10_000 }), pool)
  assert.equal(race.pool('work'), pool)
  assert.throws(() => race.pool('work', { throttle: '11s' }), { code: 'pool_mismatch', message: /throttle/ })
  assert.throws(() => race.pool('each', { mode: 'each', throttle: '1s' }), { code: 'invalid_options' })
})

test('[L1] a known topic is handed out again, and refused with other settings', async () => {
  await using race = await open()
  const topic = race.topic('events', { partitions: 4, retention: '1d' })
  assert.equal(race.topic('events'), topic)
  assert.equal(race.topic('events', { partitions: 4, retention: '24h' }), topic)
  for (const other of [{ partitions: 5 }, { retention: '2d' }] as const) {
    assert.throws(() => race.topic('events', other), { code: 'topic_mismatch' })
  }
})

test('[E1] known ticks are handed out again, and refused with other settings', async () => {
  await using race = await open()
  const ticks = race.ticks('ticks', { mode: 'one', partitions: 4, topic: 'ticked' })
  assert.equal(race.ticks('ticks'), ticks)
  assert.equal(race.ticks('ticks', { mode: 'one', partitions: 4, topic: 'ticked' }), ticks)
  for (const other of [{ mode: 'each' }, { partitions: 5 }, { remember: '2m' }] as const) {
    assert.throws(() => race.ticks('ticks', other), { code: 'pool_mismatch' })
  }
  assert.throws(() => race.ticks('ticks', { topic: 'other' }), { code: 'topic_mismatch' })
})

test('ticks move to a known topic whose number of partitions is another', async () => {
  await using race = await open()
  const topic = race.topic('events', { partitions: 8 })
  assert.equal(race.ticks('ticks', { partitions: 4, topic: 'events' }).topic, topic)
})

test('[L1] a topic takes the retention of the options only when one was given', async () => {
  await using plain = await open()
  assert.equal(plain.topic('events').settings.retentionMs, null)
  await using told = await headrace({ store: 'memory:', retention: '30d' })
  assert.equal(told.topic('events').settings.retentionMs, 30 * 86_400_000)
})
