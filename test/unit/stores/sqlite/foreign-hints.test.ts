// What of another process wakes this one.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Store } from '../../../../src/store.ts'
import { openPool } from '../../../../src/testing/pool-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'
import { BEAT, MEMBER } from './a-member.ts'

interface World {
  clock: VirtualClock
  other: Store
  /** The hints that came since the last call, after a look at the file. */
  heard(): Promise<string[]>
}

async function open(t: TestContext): Promise<World> {
  const path = await quickSqliteFiles.create()
  const clock = new VirtualClock()
  const [mine, other] = [await quickSqliteFiles.open(path, clock), await quickSqliteFiles.open(path, clock)]
  const hints: string[] = []
  mine.watch(({ kind }) => hints.push(kind))
  t.after(async () => {
    await mine.close()
    await other.close()
    await quickSqliteFiles.remove(path)
  })
  const heard = async (): Promise<string[]> => {
    await clock.advance(10)
    return hints.splice(0)
  }
  return { clock, other, heard }
}

test('[J6] a beat, a lock and a fence of another process wake nobody; the roster is told of when it changes', async (t) => {
  const { other, heard } = await open(t)
  await other.roster.join(MEMBER, [])
  assert.deepEqual(await heard(), ['roster'])
  for (let nth = 0; nth < 3; nth++) {
    await other.pulse({ beat: BEAT, pools: [] })
    await other.locks.acquire({ name: 'l', holder: 'a', ttlMs: 1000 })
    await other.fences.raise('pool/work', { owner: 'a', held: [{ partition: 0, epoch: nth }] })
    assert.deepEqual(await heard(), [])
  }
  const refused = [{ resource: 'pool/work', partition: 0, epoch: 4 }]
  await other.pulse({ beat: { ...BEAT, refused }, pools: [] })
  assert.deepEqual(await heard(), ['roster'])
})

test('[J6] whatever another process writes to entries and events wakes, also in one turn with a beat', async (t) => {
  const { other, heard } = await open(t)
  const pool = await openPool(other)
  await other.roster.join(MEMBER, [])
  await other.log.open({ name: 'log', partitions: 1, retentionMs: 1000 })
  assert.deepEqual(await heard(), ['foreign', 'roster'])
  const event = { id: 'e', key: 'e', partition: 0, value: '1', headers: null }
  const writes: (() => Promise<unknown>)[] = [
    () => pool.put('k', { at: START + 9000 }),
    // A merge with an earlier time: no new turn, no new entry.
    () => pool.put('k', { at: START + 5000 }),
    () => other.log.append('log', [event]),
    () => Promise.all([other.pulse({ beat: BEAT, pools: [] }), pool.put('l', { at: START })]),
    async () => pool.settle(await pool.takeOne(), { kind: 'again', dueAt: START + 100 }),
    () => pool.cancel('k'),
  ]
  for (const [nth, write] of writes.entries()) {
    await write()
    assert.deepEqual(await heard(), ['foreign'], `write ${nth}`)
  }
  await pool.put('l', { at: START + 1, onConflict: 'keep' })
  assert.deepEqual(await heard(), [])
})

test('a beat of another process costs a sleeping one the read of one row', async (t) => {
  const { clock, other } = await open(t)
  await other.roster.join(MEMBER, [])
  await clock.advance(10)
  await other.pulse({ beat: BEAT, pools: [] })
  const gets = t.mock.method(StatementSync.prototype, 'get')
  const alls = t.mock.method(StatementSync.prototype, 'all')
  await clock.advance(10)
  // Both stores ask for the number of foreign commits.
  assert.deepEqual([gets.mock.callCount(), alls.mock.callCount()], [3, 0])
  gets.mock.restore()
  alls.mock.restore()
})
