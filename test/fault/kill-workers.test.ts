// Workers that are killed: whatever they were doing is done by others, and every put counts once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killWorkers } from './kill-workers.ts'

test('[P4] workers on one file are killed again and again: no key is stuck, and every put is seen once', async () => {
  const seed = Date.now() % 1_000_000
  const { puts, seen, settled } = await killWorkers({ kills: 6, seed })
  assert.deepEqual(seen, puts, `seed ${seed}`)
  const total = [...puts.values()].reduce((sum, count) => sum + count, 0)
  assert.ok(settled <= total && settled > 200, `${settled} runs of ${total} puts, seed ${seed}`)
})
