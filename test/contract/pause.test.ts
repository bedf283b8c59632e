// A pause holds across a restart of everything, on a store that outlives its process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headrace } from '../../src/headrace.ts'
import { sqliteFiles } from './open-sqlite.ts'
import { until } from './postgres-house.ts'

test('[L11] [L12] a pause holds across a restart of everything, and a resume lets what waited run', async () => {
  const path = await sqliteFiles.create()
  const store = `sqlite:${path}` as const
  const before = await headrace({ store, lease: '1s' })
  await before.pool('work').pause({ by: 'ann', reason: 'deploy' })
  await before.stop()
  const race = await headrace({ store, lease: '1s' })
  const ran: string[] = []
  const pool = race.pool('work')
  const worker = race.work(pool, ({ key }) => void ran.push(key))
  try {
    await race.start()
    await pool.put('a')
    await until('it knows of the pause', async () => worker.limiter.why() === 'paused')
    const paused = await pool.paused()
    assert.deepEqual([paused?.by, paused?.reason, ran.length], ['ann', 'deploy', 0])
    await pool.resume()
    await until('it ran', async () => ran.length === 1)
  } finally {
    await race.stop()
    await sqliteFiles.remove(path)
  }
})
