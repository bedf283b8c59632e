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
