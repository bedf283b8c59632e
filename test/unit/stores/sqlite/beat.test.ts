// Beats: committed first, by themselves, and without a sync; no other commit is.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { FaultPoint } from '../../../../src/fault.ts'
import type { Beat, NewMember } from '../../../../src/roster/store.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { openPool } from '../../../../src/testing/pool-driver.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

const FULL = 2
const NORMAL = 1

const MEMBER: NewMember = {
  id: 'a',
  name: 'host:a',
  address: null,
  version: '0.1.0',
  weight: 1,
  concurrency: 1,
  leaseMs: 3000,
  serves: [],
  leads: true,
}

const BEAT: Beat = { member: 'a', leaseMs: 3000, leads: true, health: {}, holding: {}, refused: [] }

interface World {
  store: Store
  calls: string[]
  /** What was committed, and how it was synced, read from the connection itself. */
  commits: [point: FaultPoint, synced: number][]
  /** Fails the next commit at this point. */
  fail(point: FaultPoint): void
}

async function open(t: TestContext): Promise<World> {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const telemetry = createTelemetry(clock.id())
  const exec = t.mock.method(DatabaseSync.prototype, 'exec')
  const commits: World['commits'] = []
  let failing: FaultPoint | null = null
  const at = (point: FaultPoint): void => {
    const connection = exec.mock.calls[0]?.this as DatabaseSync
    commits.push([point, connection.prepare('PRAGMA synchronous').get()?.['synchronous'] as number])
    if (point !== failing) return
    failing = null
    throw new Error('planned failure')
  }
  const store = await openStore(`sqlite:${path}`, { clock, telemetry, faults: { at } })
  await store.roster.join(MEMBER, [])
  const calls: string[] = []
  const off = telemetry.on('store.called', ({ operation }) => void calls.push(operation))
  t.after(async () => {
    off()
    await store.close()
    await sqliteFiles.remove(path)
  })
  return { store, calls, commits, fail: (point) => (failing = point) }
}

const beforeCommit = ([point]: World['commits'][number]): boolean => point.endsWith('before-commit')

test('[J5] a beat that shares its turn with a put is committed before it, by itself, and alone without a sync', async (t) => {
  const { store, calls, commits } = await open(t)
  const pool = await openPool(store)
  for (const list of [calls, commits]) list.length = 0
  const answered: string[] = []
  const put = pool.put('k').then(() => answered.push('put'))
  const pulses = [1, 2].map(() => store.pulse({ beat: BEAT, pools: [] }).then(() => answered.push('beat')))
  await Promise.all([put, ...pulses, store.locks.acquire({ name: 'l', holder: 'a', ttlMs: 10 })])
  assert.deepEqual(commits.filter(beforeCommit), [
    ['beat.before-commit', NORMAL],
    ['beat.before-commit', NORMAL],
    ['put.before-commit', FULL],
    ['roster.before-commit', FULL],
  ])
  assert.deepEqual(answered, ['beat', 'beat', 'put'])
  assert.deepEqual(calls, ['pulse', 'commit'])
})

test('[J5] after a beat, done or failed, every other commit is synced', async (t) => {
  const { store, commits, fail } = await open(t)
  const pool = await openPool(store)
  await store.log.open({ name: 'log', partitions: 1, retentionMs: 1000 })
  const writes: (() => Promise<unknown>)[] = [
    () => pool.put('k'),
    () => store.log.append('log', [{ id: 'e', key: 'e', partition: 0, value: '1', headers: null }]),
    () => store.roster.drain('a', true),
  ]
  for (const failing of [false, true]) {
    for (const write of writes) {
      if (failing) fail('beat.before-commit')
      await store
        .pulse({ beat: BEAT, pools: [] })
        .catch((error: unknown) => assert.match(String(error), /planned/))
      commits.length = 0
      await write()
      assert.deepEqual(
        commits.map(([, synced]) => synced),
        [FULL, FULL],
      )
    }
  }
})

test('a pulse with a beat is one store call, and answers the next due time, too', async (t) => {
  const { store, calls } = await open(t)
  const pool = await openPool(store)
  const { dueAt } = await pool.put('k')
  calls.length = 0
  const asked = [{ pool: 'work', partitions: [0, 1, 2, 3] }]
  const { nextDueAt, beaten } = await store.pulse({ beat: BEAT, pools: asked })
  assert.deepEqual([nextDueAt.get('work'), beaten?.known], [dueAt, true])
  assert.deepEqual(calls, ['pulse'])
})
