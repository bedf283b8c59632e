// What the journal keeps in memory, and that its bound bounds it.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Entry } from '../../../../src/pool/entry.ts'
import { Database } from '../../../../src/stores/sqlite/database.ts'
import { Journal } from '../../../../src/stores/sqlite/journal.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

const POOL = 1

describe('the memory of the journal', () => {
  let path: string
  let database: Database
  let journal: Journal

  beforeEach(async () => {
    path = await sqliteFiles.create()
    database = await Database.open(path, new VirtualClock())
    journal = new Journal(database, POOL, { entries: 10, payload: 100 })
    journal.refresh()
  })

  afterEach(async () => {
    database.close()
    await sqliteFiles.remove(path)
  })

  function add(turn: number, { putAt = 0, dueAt = 1000, payload = null }: Partial<Young> = {}): void {
    journal.add({
      key: `k${turn}`,
      slot: dueAt,
      group: `k${turn}`,
      partition: 0,
      turn,
      lane: 'normal',
      next: { dueAt, tally: 1, payload },
      after: null,
      attempt: 0,
      crashes: 0,
      state: 'live',
      failing: false,
      lastError: null,
      enqueuedAt: putAt,
      putAt,
    })
  }

  function commit(): void {
    journal.flush()
    journal.committed()
  }

  const get = (turn: number, slot = 1000): Entry => journal.get(`k${turn}`, slot) as Entry

  const foldable = (limit = 10): number[] =>
    journal.foldable({ putBefore: 100, dueAfter: 5000, dueAfterIfSparse: 500, limit }).map(({ turn }) => turn)

  it('is bounded by the number of entries and by the length of their payloads', () => {
    for (let turn = 1; turn <= 10; turn++) {
      assert.equal(journal.hasRoom, true)
      add(turn)
    }
    assert.equal(journal.hasRoom, false)
    journal.remove(get(4))
    assert.equal(journal.hasRoom, true)
    add(11, { payload: 'x'.repeat(100) })
    journal.remove(get(5))
    assert.equal(journal.hasRoom, false)
    journal.rolledBack()
    assert.deepEqual([journal.hasRoom, journal.size], [true, 0])
  })

  it('lets an entry go when it is gone, though others of its segment wait', async () => {
    for (let turn = 1; turn <= 3; turn++) add(turn)
    commit()
    const held = new WeakRef(get(2))
    journal.remove(get(2))
    commit()
    await new Promise(setImmediate)
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
    assert.equal(held.deref(), undefined)
    assert.equal(journal.size, 2)
  })

  it('offers the last entries of a sparse segment for folding, though they are due soon', () => {
    for (let turn = 1; turn <= 8; turn++) add(turn)
    commit()
    assert.deepEqual(foldable(), [])
    for (let turn = 1; turn <= 7; turn++) journal.remove(get(turn))
    commit()
    assert.deepEqual(foldable(), [8])
  })

  it('offers old entries for folding behind young ones, as a clock that was set back leaves them', () => {
    add(1, { putAt: 86_400_000, dueAt: 90_000_000 })
    commit()
    for (let turn = 3; turn <= 5; turn++) add(turn, { dueAt: 6000 })
    commit()
    assert.deepEqual(foldable(), [3, 4, 5])
    assert.deepEqual(foldable(2), [3, 4])
    journal.remove(get(3, 6000))
    assert.deepEqual(foldable(), [4, 5])
  })
})

interface Young {
  putAt: number
  dueAt: number
  payload: string | null
}
