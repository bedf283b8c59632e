// Beats: committed first, and by themselves. That nobody waits for their sync is shown in sync.test.ts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FaultPoint } from '../../../../src/fault.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { openPool } from '../../../../src/testing/pool-driver.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'
import { BEAT, MEMBER } from './a-member.ts'

interface World {
  store: Store
  calls: string[]
  commits: FaultPoint[]
}

async function open(t: TestContext): Promise<World> {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const telemetry = createTelemetry(clock.id())
  const commits: FaultPoint[] = []
  const at = (point: FaultPoint): void => void commits.push(point)
  const store = await openStore(`sqlite:${path}`, { clock, telemetry, faults: { at } })
  await store.roster.join(MEMBER, [])
  const calls: string[] = []
  const off = telemetry.on('store.called', ({ operation }) => void calls.push(operation))
  t.after(async () => {
    off()
    await store.close()
    await sqliteFiles.remove(path)
  })
  return { store, calls, commits }
}

test('[J5] a beat that shares its turn with a put is committed before it, and by itself', async (t) => {
  const { store, calls, commits } = await open(t)
  const pool = await openPool(store)
  for (const list of [calls, commits]) list.length = 0
  const answered: string[] = []
  const put = pool.put('k').then(() => answered.push('put'))
  const pulses = [1, 2].map(() => store.pulse({ beat: BEAT, pools: [] }).then(() => answered.push('beat')))
  await Promise.all([put, ...pulses, store.locks.acquire({ name: 'l', holder: 'a', ttlMs: 10 })])
  assert.deepEqual(commits, [
    'beat.before-commit',
    'beat.before-commit',
    'beat.after-commit',
    'beat.after-commit',
    'put.before-commit',
    'roster.before-commit',
    'put.after-commit',
    'roster.after-commit',
  ])
  assert.deepEqual(answered, ['beat', 'beat', 'put'])
  assert.deepEqual(calls, ['pulse', 'commit'])
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
