// The journal of young entries: rollback, other processes, folding, its bound.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { FaultPoint } from '../../../../src/fault.ts'
import type { Put } from '../../../../src/pool/merge.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { claimAll, claimOf } from '../../../../src/testing/claim.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

describe('the journal of the SQLite store', () => {
  let folder: string
  let clock: VirtualClock
  let failAt: FaultPoint | null
  let opened: Store[]
  let failures: string[]
  let unlisten: (() => void)[]

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headrace-'))
    clock = new VirtualClock()
    failAt = null
    opened = []
    failures = []
    unlisten = []
  })

  afterEach(async () => {
    for (const store of opened) await store.close()
    for (const off of unlisten) off()
    rmSync(folder, { recursive: true })
  })

  async function open(): Promise<Store> {
    const faults = {
      at(point: FaultPoint): void {
        if (point === failAt) throw new Error(`planned failure at ${point}`)
      },
    }
    const telemetry = createTelemetry(clock.id())
    unlisten.push(telemetry.on('store.failed', ({ error }) => void failures.push(String(error))))
    const store = await openStore(`sqlite:${join(folder, 'headrace.db')}`, { clock, telemetry, faults })
    opened.push(store)
    await store.pool.entries.open({ name: 'ticks', mode: 'each', partitions: 4, rememberMs: 0 })
    await store.log.open({ name: 'ticks', partitions: 4, retentionMs: MINUTE })
    await claimAll(store, 'ticks', 4)
    return store
  }

  async function put(store: Store, key: string, at: number): Promise<string> {
    const one: Put = { key, at, payload: undefined, lane: 'normal', group: key, onConflict: 'earliest' }
    const [response] = await store.pool.entries.put('ticks', [{ puts: [one], repeat: null }])
    assert(response?.kind === 'answered')
    return response.answers[0]?.result ?? 'none'
  }

  const move = (store: Store): Promise<{ count: number }> =>
    store.mover.move({ pool: 'ticks', topic: 'ticks', limit: 100, claim: claimOf(4) })

  /** A pulse, and a write after it, which changes nothing: what the pulse began is committed by then. */
  async function keepHouse(store: Store): Promise<void> {
    await store.pulse({ beat: null, pools: [] })
    await store.log.open({ name: 'ticks', partitions: 4, retentionMs: MINUTE })
  }

  function rows(table: 'segment' | 'entry' | 'gone' | 'event'): number {
    const database = new DatabaseSync(join(folder, 'headrace.db'))
    const row = database.prepare(`select count(*) as count from ${table}`).get()
    database.close()
    return row?.['count'] as number
  }

  it('[J2] forgets a put whose commit failed, and accepts it afterwards', async () => {
    const store = await open()
    failAt = 'put.before-commit'
    await assert.rejects(put(store, 'a', clock.now() + SECOND), /planned failure/)
    failAt = null
    assert.equal(await put(store, 'a', clock.now() + SECOND), 'created')
    assert.equal(rows('segment'), 1)
  })

  it('[J2] still holds a tick whose move failed, and moves it once afterwards', async () => {
    const store = await open()
    await put(store, 'a', clock.now() + SECOND)
    await clock.advance(SECOND)
    failAt = 'move.before-commit'
    await assert.rejects(move(store), /planned failure/)
    assert.equal(rows('event'), 0)
    failAt = null
    assert.equal((await move(store)).count, 1)
    assert.equal((await move(store)).count, 0)
    assert.equal(rows('event'), 1)
  })

  it('[J2] a reschedule onto the same slot that fails leaves the tick as it was', async () => {
    const store = await open()
    const at = clock.now() + SECOND
    await put(store, 'a', at)
    const before = await store.pool.browse.get('ticks', { key: 'a', slot: at })
    failAt = 'put.before-commit'
    await assert.rejects(
      store.pool.entries.reschedule('ticks', { key: 'a', slot: at, at }),
      /planned failure/,
    )
    failAt = null
    assert.deepEqual(await store.pool.browse.get('ticks', { key: 'a', slot: at }), before)
    await clock.advance(SECOND)
    assert.equal((await move(store)).count, 1)
  })

  it('[J2] one failing work of a turn leaves the others of that turn alone', async () => {
    const store = await open()
    const bad = store.log.append('no such topic', [
      { id: 'x', key: 'x', partition: 0, value: '1', headers: null },
    ])
    const good = put(store, 'a', clock.now() + SECOND)
    await assert.rejects(bad, { code: 'topic_unknown' })
    assert.equal(await good, 'created')
    assert.equal(rows('segment'), 1)
  })

  it('[J3] another process sees what is put, and each tick moves once', async () => {
    const [first, second] = [await open(), await open()]
    const at = clock.now() + SECOND
    assert.equal(await put(first, 'a', at), 'created')
    assert.equal(await put(second, 'a', at), 'kept')
    assert.equal(await put(second, 'b', at), 'created')
    await clock.advance(SECOND)
    const counts = await Promise.all([move(first), move(second)])
    assert.equal(
      counts.reduce((sum, { count }) => sum + count, 0),
      2,
    )
    assert.equal(rows('event'), 2)
    assert.equal(rows('segment'), 0)
  })

  it('[J3] another process sees what is cancelled and folded', async () => {
    const [first, second] = [await open(), await open()]
    const at = clock.now() + 10 * MINUTE
    await put(first, 'a', at)
    await put(first, 'b', at)
    await second.pool.entries.cancel('ticks', { key: 'a', slot: at })
    assert.equal(await first.pool.browse.get('ticks', { key: 'a', slot: at }), null)
    await clock.advance(20 * SECOND)
    await keepHouse(second)
    assert.equal(rows('entry'), 1)
    assert.equal(await put(first, 'b', at), 'kept')
    assert.deepEqual(await first.pool.browse.count('ticks'), {
      waiting: 1,
      due: 0,
      'backing-off': 0,
      dead: 0,
    })
  })

  it('[J4] folding moves what waits long into the table, keeps its turn, and empties the segment', async () => {
    const store = await open()
    const at = clock.now() + 10 * MINUTE
    await put(store, 'far', at)
    await put(store, 'near', clock.now() + 30 * SECOND)
    const before = await store.pool.browse.get('ticks', { key: 'far', slot: at })
    await clock.advance(20 * SECOND)
    await keepHouse(store)
    assert.deepEqual(await store.pool.browse.get('ticks', { key: 'far', slot: at }), before)
    assert.deepEqual([rows('entry'), rows('segment')], [1, 1])
    await clock.advance(10 * MINUTE)
    assert.equal((await move(store)).count, 2)
    assert.deepEqual([rows('entry'), rows('segment'), rows('gone'), rows('event')], [0, 0, 0, 2])
  })

  it('[J4] a fold that fails leaves the entry where it was, and the pulse answers', async () => {
    const store = await open()
    const at = clock.now() + 10 * MINUTE
    await put(store, 'far', at)
    await clock.advance(20 * SECOND)
    failAt = 'fold.before-commit'
    await keepHouse(store)
    failAt = null
    assert.deepEqual([rows('entry'), rows('segment')], [0, 1])
    assert.equal(await put(store, 'far', at), 'kept')
    assert.deepEqual(failures, ['Error: planned failure at fold.before-commit'])
  })

  it('[J1] reopening reads segments, bits and table to the same entries', async () => {
    const store = await open()
    const at = clock.now() + SECOND
    for (let index = 0; index < 20; index++) await put(store, `k${index}`, at + index * SECOND)
    await clock.advance(5 * SECOND)
    assert.equal((await move(store)).count, 5)
    const before = await store.pool.browse.list('ticks', { limit: 100 })
    await store.close()
    opened = []
    assert.deepEqual(await (await open()).pool.browse.list('ticks', { limit: 100 }), before)
    assert.equal(before.entries.length, 15)
  })
})
