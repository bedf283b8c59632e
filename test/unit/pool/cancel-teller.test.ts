// How cancels are told to other members: in few writes, the last hundred, and nothing else is touched.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { Gate } from '../../../src/gate.ts'
import { CancelTeller } from '../../../src/pool/cancel-teller.ts'
import { MOST_CANCELS } from '../../../src/pool/control.ts'
import type { ControlStore } from '../../../src/pool/store.ts'
import { Pool } from '../../../src/pool/pool.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

interface Opened {
  clock: VirtualClock
  gate: Gate
  pool: Pool
  teller: CancelTeller
  control: ControlStore
  writes: number
}

async function open(): Promise<Opened> {
  const clock = new VirtualClock()
  const telemetry = createTelemetry(clock.id())
  const store = openMemoryStore({ clock, telemetry, faults: noFaults })
  const gate = new Gate()
  const settings = { name: 'work', mode: 'one', partitions: 1, rememberMs: 0 } as const
  const pool = new Pool({ settings, store: store.pool, arrivals: null, clock, telemetry, gate })
  await pool.open()
  const { control } = store.pool
  const write: ControlStore['write'] = (...asked) => {
    opened.writes += 1
    return control.write(...asked)
  }
  const parts = { pool: 'work', control: { read: (name: string) => control.read(name), write } }
  const teller = new CancelTeller({ ...parts, clock, gate, telemetry })
  const opened: Opened = { clock, gate, pool, teller, control, writes: 0 }
  return opened
}

test('[X24] many cancels are told in a few writes, the newest of them, beside the pause and the limits', async () => {
  const opened = await open()
  const { clock, pool, teller, control } = opened
  await pool.pause({ by: 'ann' })
  await pool.limit({ pool: { concurrency: 3 } })
  for (let nth = 0; nth < 500; nth += 1) {
    teller.tell({ key: `k${nth}` })
    if (nth % 10 === 9) await clock.advance(1)
  }
  await clock.advance(100)
  assert.ok(opened.writes <= 4, `${opened.writes} writes`)
  const { cancels = [], paused, limits } = (await control.read('work')).control
  assert.deepEqual([cancels.length, cancels.at(-1)?.key], [MOST_CANCELS, 'k499'])
  assert.ok(cancels.every(({ version }, nth) => nth === 0 || version >= (cancels[nth - 1]?.version ?? 0)))
  assert.deepEqual([paused?.by, limits.pool.concurrency], ['ann', 3])
})

test('[X24] a stop waits until the last cancel is told', async () => {
  const { clock, gate, teller, control } = await open()
  teller.tell({ key: 'a' })
  await clock.advance(1)
  teller.tell({ key: 'b', slot: null })
  const closed = gate.close()
  await clock.advance(20)
  await closed
  const { cancels } = (await control.read('work')).control
  assert.deepEqual(cancels, [
    { key: 'a', version: 1 },
    { key: 'b', slot: null, version: 2 },
  ])
  teller.tell({ key: 'c' })
  await clock.advance(100)
  assert.equal((await control.read('work')).version, 2)
})

test('[X24] what could not be told is let be, and the next cancel is told', async () => {
  let isDown = true
  const { clock, teller, control } = await open()
  const broken = new CancelTeller({
    pool: 'work',
    clock,
    telemetry: createTelemetry(clock.id()),
    gate: new Gate(),
    control: {
      read: (name) => (isDown ? Promise.reject(new Error('the store is down')) : control.read(name)),
      write: (...asked) => control.write(...asked),
    },
  })
  broken.tell({ key: 'a' })
  await clock.advance(100)
  isDown = false
  broken.tell({ key: 'b' })
  teller.tell({ key: 'c' })
  await clock.advance(100)
  const { cancels = [] } = (await control.read('work')).control
  assert.deepEqual(cancels.map(({ key }) => key).toSorted(), ['b', 'c'])
})

test('[X24] [I4] a cancel that others come before is told a moment later, each time lost is told, and at last it is let be', async () => {
  const { clock, control } = await open()
  const telemetry = createTelemetry(clock.id())
  let [lost, told] = [0, 0]
  telemetry.on('control.lost', ({ by }) => (told += by === 'cancel' ? 1 : 0))
  const write: ControlStore['write'] = async (...asked) => (lost-- > 0 ? null : control.write(...asked))
  const store = { read: (name: string) => control.read(name), write }
  const teller = new CancelTeller({ pool: 'work', control: store, clock, gate: new Gate(), telemetry })
  lost = 7
  teller.tell({ key: 'a' })
  await clock.advance(100)
  assert.deepEqual([(await control.read('work')).control.cancels?.map(({ key }) => key), told], [['a'], 7])
  lost = Infinity
  teller.tell({ key: 'b' })
  await clock.advance(1000)
  assert.equal(told, 7 + 50)
  lost = 0
  teller.tell({ key: 'c' })
  await clock.advance(100)
  assert.deepEqual(
    (await control.read('work')).control.cancels?.map(({ key }) => key),
    ['a', 'c'],
  )
})
