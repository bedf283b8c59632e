// The pulse of the SQLite store: what it counts as, and what closing waits for.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { noFaults } from '../../../../src/fault.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

const NO_BEAT = { beat: null, pools: [] }

test('a pulse is counted as one store call', async () => {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const telemetry = createTelemetry(clock.id())
  const store = await openStore(`sqlite:${path}`, { clock, telemetry, faults: noFaults })
  const calls: string[] = []
  const off = telemetry.on('store.called', ({ operation }) => void calls.push(operation))
  await store.pulse(NO_BEAT)
  assert.deepEqual(calls, ['pulse'])
  off()
  await store.close()
  await sqliteFiles.remove(path)
})

test('closing waits for what a pulse began', async () => {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const telemetry = createTelemetry(clock.id())
  const store = await openStore(`sqlite:${path}`, { clock, telemetry, faults: noFaults })
  await store.pool.entries.open({ name: 'p', mode: 'each', partitions: 1, rememberMs: 0 })
  const at = clock.now() + 3_600_000
  const put = {
    key: 'k',
    at,
    payload: undefined,
    lane: 'normal',
    group: 'k',
    onConflict: 'earliest',
  } as const
  await store.pool.entries.put('p', [{ puts: [put], repeat: null }])
  await clock.leap(20_000)
  const folded: number[] = []
  const off = telemetry.on('store.folded', ({ entries }) => void folded.push(entries))
  // Twice at once: the second finds the first one's chores under way.
  await Promise.all([store.pulse(NO_BEAT), store.pulse(NO_BEAT)])
  await store.close()
  assert.deepEqual(folded, [1])
  off()
  await sqliteFiles.remove(path)
})

test('a store that a listener closes does not look at its file again', async (context) => {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const mine = await sqliteFiles.open(path, clock)
  const other = await sqliteFiles.open(path, clock)
  const closing: Promise<void>[] = []
  mine.watch(() => void closing.push(mine.close()))
  await other.log.open({ name: 'ticks', partitions: 1, retentionMs: 1000 })
  await other.close()
  await clock.advance(10)
  assert.equal(closing.length, 1)
  await closing[0]
  const looks = context.mock.method(StatementSync.prototype, 'get')
  await clock.advance(100)
  assert.equal(looks.mock.callCount(), 0)
  looks.mock.restore()
  await sqliteFiles.remove(path)
})
