// Processes that work on a pool are killed: whatever they were doing is done by others, and every put counts once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RaceStore, openRaceFile, openRacePostgres, racePool } from './race-pool.ts'

const OPTIONS = { kills: 5, producers: 32, drainers: 3, keys: 40 }

async function race(store: RaceStore): Promise<void> {
  const seed = Date.now() % 1_000_000
  try {
    const { wrong, stuck, settled, puts } = await racePool(store, { ...OPTIONS, seed })
    assert.deepEqual({ wrong, stuck }, { wrong: [], stuck: [] }, `seed ${seed}`)
    assert.ok(settled > 200 && settled <= puts, `${settled} runs of ${puts} puts, seed ${seed}`)
  } finally {
    await store.remove()
  }
}

test('[P4] processes on one file are killed again and again: no key is stuck, and every put is seen once', () =>
  race(openRaceFile()))

test('[P4] processes on PostgreSQL are killed again and again: no key is stuck, and every put is seen once', async () =>
  race(await openRacePostgres()))
