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
import { Database } from '../../../../src/stores/sqlite/database.ts'
import { Session } from '../../../../src/stores/sqlite/session.ts'
import type { Mirror } from '../../../../src/stores/sqlite/work.ts'
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

/** A session of its own, with a mirror that fails where it is told to. */
async function openSession(t: TestContext, failing: Partial<Mirror>) {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  const database = await Database.open(join(folder, 'headrace.db'), systemClock)
  const telemetry = createTelemetry(systemClock.id())
  const session = new Session({ database, clock: systemClock, telemetry, faults: noFaults })
  const idle = (): void => undefined
  session.mirror({ refresh: idle, flush: idle, committed: idle, rolledBack: idle, ...failing })
  const failures: unknown[] = []
  t.after(telemetry.on('store.lost', ({ error }) => void failures.push(error)))
  t.after(async () => {
    await session.close()
    database.close()
    rmSync(folder, { recursive: true })
  })
  return { session, failures }
}

const fail = (): never => {
  throw new Error('planned failure')
}
const refused = {
  code: 'store_failed',
  message: /lost track of the file: planned failure/,
  remedy: /restart/,
}

test('[J2] memory that cannot follow a commit: what is on the disk is answered, what waits or comes is refused', async (t) => {
  const { session, failures } = await openSession(t, { committed: fail })
  const waiting = session.write('other', () => 2)
  const first = session.write('beat', () => 1)
  assert.equal(await first, 1)
  await assert.rejects(waiting, refused)
  await assert.rejects(
    session.write('other', () => 3),
    refused,
  )
  await assert.rejects(
    session.read(() => 4),
    refused,
  )
  assert.equal(failures.length, 1)
  await session.settled()
})

test('[J2] memory that cannot be put back after a rollback: nobody waits for an answer for ever', async (t) => {
  const { session, failures } = await openSession(t, { rolledBack: fail })
  const works = [session.write('other', fail), session.write('other', () => 1)]
  for (const work of works) await assert.rejects(work, refused)
  await assert.rejects(
    session.write('other', () => 3),
    refused,
  )
  assert.equal(failures.length, 1)
})
