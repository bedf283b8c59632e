// What a store without arrivals says to a transaction of the user's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRace } from '../open-race.ts'

test('a put or append with a transaction is refused with a remedy where the store cannot take part', async () => {
  const { race } = openRace()
  await race.start()
  const tx = { query: () => Promise.reject(new Error('must not be asked')) }
  const refused = { code: 'invalid_options', message: 'this store takes no part in transactions of yours' }
  await assert.rejects(race.pool('work').put('a', { tx }), refused)
  await assert.rejects(race.topic('orders').append([{ key: 'a', value: 1 }], { tx }), refused)
  await race.stop()
})
