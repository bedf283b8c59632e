// What following another process costs: rows that are read, whatever the journal holds.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { type TestContext, afterEach, beforeEach, describe, it } from 'node:test'
import type { Store } from '../../../../src/store.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'

const MINUTE = 60_000

describe('following another process', () => {
  let path: string
  let clock: VirtualClock
  let mine: Store
  let other: Store

  beforeEach(async () => {
    path = await quickSqliteFiles.create()
    clock = new VirtualClock()
    mine = await open()
    other = await open()
  })

  afterEach(async () => {
    await mine.close()
    await other.close()
    await quickSqliteFiles.remove(path)
  })

  async function open(): Promise<Store> {
    const store = await quickSqliteFiles.open(path, clock)
    await store.pool.entries.open({ name: 'ticks', mode: 'each', partitions: 1, rememberMs: 0 })
    return store
  }

  async function put(store: Store, keys: string[], at: number): Promise<void> {
    const puts = keys.map((key) => {
      return { key, at, payload: undefined, lane: 'normal', group: key, onConflict: 'earliest' } as const
    })
    await store.pool.entries.put('ticks', [{ puts, repeat: null }])
  }

  /** How many rows `mine` reads to see that `key` is not there. */
  async function rowsRead(context: TestContext): Promise<number> {
    const all = context.mock.method(StatementSync.prototype, 'all')
    assert.equal(await mine.pool.browse.get('ticks', { key: 'none', slot: 1 }), null)
    const rows = all.mock.calls.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
    all.mock.restore()
    return rows
  }

  it('[J3] reads what has changed, not what waits', async (context) => {
    const at = clock.now() + MINUTE
    for (let segment = 0; segment < 300; segment++) await put(mine, [`a${segment}`, `b${segment}`], at)
    assert.equal(await rowsRead(context), 0)
    await put(other, ['c', 'd'], at)
    assert.equal(await rowsRead(context), 1)
    await other.pool.entries.cancel('ticks', { key: 'c' })
    await other.pool.entries.cancel('ticks', { key: 'a7' })
    assert.equal(await rowsRead(context), 2)
    await other.pool.entries.cancel('ticks', { key: 'd' })
    assert.equal(await rowsRead(context), 1)
    assert.equal((await mine.pool.browse.count('ticks')).waiting, 599)
  })

  it('[J3] reads everything again where it has not looked for longer than changes are kept', async (context) => {
    const at = clock.now() + 10 * MINUTE
    await put(mine, ['a'], at)
    await put(mine, ['b'], at)
    await other.pool.entries.cancel('ticks', { key: 'a' })
    for (let pulse = 0; pulse < 3; pulse++) {
      await clock.leap(30_000)
      await other.pulse({ beat: null, pools: [] })
    }
    await put(other, ['c'], at)
    assert.equal(await mine.pool.browse.get('ticks', { key: 'a', slot: at }), null)
    assert.equal((await mine.pool.browse.count('ticks')).waiting, 2)
    assert.equal(await rowsRead(context), 0)
  })
})
