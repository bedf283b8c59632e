// A connection that could not roll back is still in its transaction, and is not used again.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { Pool } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { type Call, Connections } from '../../src/stores/postgres/connections.ts'
import { Queries } from '../../src/stores/postgres/queries.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15, { fsync: false })
const CALL: Call = { operation: 'commit', timeoutMs: 5000, again: 'undone' }

/** Stands before the server, which reads the first ROLLBACK as a word that it does not know, and refuses it. */
async function startSpoiler(target: number): Promise<{ port: number; spoiled(): number; close(): void }> {
  let spoiled = 0
  const proxy = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => undefined)
    far.pipe(near)
    near.on('close', () => far.destroy())
    near.on('data', (chunk) => {
      const isMeant = spoiled === 0 && chunk.includes('ROLLBACK')
      if (isMeant) spoiled += 1
      far.write(
        isMeant ? Buffer.from(chunk.toString('latin1').replace('ROLLBACK', 'ROLLBAKK'), 'latin1') : chunk,
      )
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    spoiled: () => spoiled,
    close: () => void proxy.close(),
  }
}

void describe('a rollback that fails', { skip: server === null }, () => {
  after(() => server?.remove())

  test('[Y23] a connection whose rollback failed is closed, and the next call has another', async () => {
    assert.ok(server !== null)
    const spoiler = await startSpoiler(Number(new URL(server.url()).port))
    const address = new URL(server.url())
    address.port = String(spoiler.port)
    const pool = new Pool({ connectionString: address.href, max: 1 })
    const queries = new Queries('not_there')
    const shared = { clock: systemClock, telemetry: createTelemetry('test'), address: 'postgres://db' }
    const connections = new Connections({ ...shared, pool, queries, canGrow: true })
    let made = 0
    pool.on('connect', () => (made += 1))
    const failing = connections.transaction(CALL, (tx) => tx.query('read_clock', [1]))
    await assert.rejects(failing, { code: 'store_failed' })
    assert.deepEqual([spoiler.spoiled(), made], [1, 1])
    assert.equal(await connections.transaction(CALL, async () => 'fine'), 'fine')
    assert.equal(made, 2)
    await connections.close()
    spoiler.close()
  })
})
