// Puts in users' own transactions that postpone each other, folded after nobody worked for a while.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { headrace } from '../../src/headrace.ts'
import { until } from '../fault/until.ts'
import { openHouse } from './postgres-house.ts'

const { server, skip, newSchema } = await openHouse()

test('[U6] what debounced while nobody worked runs once', { skip }, async () => {
  const store = server.url({ schema: newSchema() })
  await using race = await headrace({ store, partitions: 1, log: 'silent' })
  const pool = race.pool<number>('work')
  const tx = new Client({ connectionString: server.url() })
  await tx.connect()
  for (let nth = 1; nth <= 20; nth += 1) {
    await tx.query('begin')
    await pool.put('a', { in: '1s', onConflict: 'replace', payload: nth, tx })
    await tx.query('commit')
  }
  await tx.end()
  await race.clock.sleep(1200)
  const ran: number[] = []
  race.work(pool, ({ payload }) => void ran.push(payload))
  await race.start()
  await until('the key ran', () => ran.length > 0, 20_000)
  await pool.put('last', { payload: 0 })
  await until('what was put later ran', () => ran.includes(0), 20_000)
  assert.deepEqual(ran, [20, 0])
})
