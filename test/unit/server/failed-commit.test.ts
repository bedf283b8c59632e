// POST /ticks over a store whose commit fails: nobody is told 202.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FaultPoint } from '../../../src/fault.ts'
import { headrace } from '../../../src/headrace.ts'
import { createServer } from '../../../src/server/app.ts'

test('[R1] a post whose commit fails is not answered 202, and its tick is not there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  let failing = true
  const at = (point: FaultPoint): void => {
    if (failing && point === 'put.before-commit') throw new Error('planned failure of a put')
  }
  const store = `sqlite:${join(folder, 'headrace.db')}`
  const race = await headrace({ store, partitions: 4, log: 'silent' }, { faults: { at } })
  const ticks = race.ticks()
  const server = createServer(race, ticks, { port: 0, drainWithin: 0 })
  t.after(async () => {
    await server.close()
    await race.stop()
    rmSync(folder, { recursive: true })
  })
  await race.start()
  const url = await server.listen()
  const due = '2030-01-01T00:00:00.000Z'
  const post = async (): Promise<number> => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ item: 'a', at: due })
    return (await fetch(`${url}/ticks`, { method: 'POST', headers, body })).status
  }
  assert.ok((await post()) >= 500)
  assert.equal(await ticks.pool.get('a', due), null)
  failing = false
  assert.equal(await post(), 202)
  assert.equal((await ticks.pool.get('a', due))?.tally, 1)
})
