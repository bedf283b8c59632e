// The promises hold in the history of random operations, seen from outside, on every store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemory } from './compare-seeds.ts'
import { quickSqliteFiles } from './open-sqlite.ts'
import { playSeed } from './play-seed.ts'

test('[P1] [P2] [P3] [P4] hold in the histories of 200 seeds on memory', async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    assert.deepEqual(await playSeed(seed, openMemory), [])
  }
})

test('[P1] [P2] [P3] [P4] hold in the histories of 20 seeds on SQLite', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const path = await quickSqliteFiles.create()
    const violations = await playSeed(seed, (clock) => quickSqliteFiles.open(path, clock))
    await quickSqliteFiles.remove(path)
    assert.deepEqual(violations, [])
  }
})
