// What outlives strangers on the channel, connections that stand still, and rows that others hold.
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import type { Hint } from '../../src/store.ts'
import { openPool } from '../../src/testing/pool-driver.ts'
import { openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, open } = await openHouse()

void describe('postgres: strangers', { skip }, () => {
  void test('[Y5] a notification that is no hint is passed over, and hints are heard after it', async () => {
    const schema = newSchema()
    const [here, there] = [await open(schema), await open(schema)]
    const heard: Hint[] = []
    there.watch((hint) => heard.push(hint))
    for (const text of ['x', 'null', '{"puts":[5]}'])
      await server.run('select pg_notify($1, $2)', [schema, text])
    await (await openPool(here)).put('a', { at: systemClock.now() + 600_000 })
    await until('the hint is heard', () => heard.some(({ kind }) => kind === 'put'))
  })
})
