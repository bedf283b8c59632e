// The session: transactions that share a turn, and what may go wrong around them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../../src/clock.ts'
import { noFaults } from '../../../../src/fault.ts'
import type { NewEvent } from '../../../../src/log/store.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { type Telemetry, createTelemetry } from '../../../../src/telemetry.ts'

interface Opened {
  store: Store
  telemetry: Telemetry
  /** Holds the write lock as another process would. */
  lock(): { release(): void }
}

async function open(t: TestContext): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  const path = join(folder, 'headrace.db')
  const telemetry = createTelemetry(systemClock.id())
  const store = await openStore(`sqlite:${path}`, { clock: systemClock, telemetry, faults: noFaults })
  await store.log.open({ name: 'log', partitions: 1, retentionMs: 60_000 })
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const lock = (): { release(): void } => {
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    return {
      release() {
        other.exec('ROLLBACK')
        other.close()
      },
    }
  }
  return { store, telemetry, lock }
}

const event = (id: string): NewEvent => ({ id, key: 'k', partition: 0, value: '1', headers: null })
async function offsets(store: Store): Promise<number[]> {
  const request = { from: [{ partition: 0, offset: 0 }], limit: 100, maxBytes: 1024 * 1024 }
  return (await store.log.read('log', request)).events.map(({ offset }) => offset)
}

test('[J2] a read from a listener cannot fall into a write that had to wait for its lock', async (t) => {
  const { store, telemetry, lock } = await open(t)
  const reads: Promise<unknown>[] = []
  t.after(telemetry.on('store.waited', () => void reads.push(store.log.topic('log'))))
  const held = lock()
  const appended = store.log.append('log', [event('a')])
  await systemClock.sleep(20)
  held.release()
  assert.equal((await appended)[0]?.offset, 0)
  await store.log.append('log', [event('b')])
  await Promise.all(reads)
  assert.equal(reads.length, 1)
  assert.deepEqual(await offsets(store), [0, 1])
})

test('[J2] a work that fails keeps its own error, and its neighbours are done', async (t) => {
  const { store } = await open(t)
  const bad = store.log.append('no such topic', [event('x')])
  const good = [store.log.append('log', [event('a')]), store.log.append('log', [event('b')])]
  await assert.rejects(bad, { code: 'topic_unknown' })
  assert.equal((await Promise.all(good)).length, 2)
  assert.deepEqual(await offsets(store), [0, 1])
})

test('[J2] a write that cannot have the lock in time is refused, and the next one is not', async (t) => {
  const { store, lock } = await open(t)
  const held = lock()
  await assert.rejects(store.log.append('log', [event('a')]), { code: 'store_busy' })
  held.release()
  await store.log.append('log', [event('b')])
  assert.deepEqual(await offsets(store), [0])
})
