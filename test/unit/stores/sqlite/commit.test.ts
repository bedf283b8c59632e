// What a failing commit, or a restart after a commit, leaves of a tick on its way to the topic.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type FaultPoint, type Faults, noFaults } from '../../../../src/fault.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { asPut, openPool } from '../../../../src/testing/pool-driver.ts'
import { openTopic } from '../../../../src/testing/log-driver.ts'
import { openTicks } from '../../../../src/testing/ticks-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'

/** A place for one store, which may be opened again after it was closed. */
function housing(t: TestContext, faults: Faults = noFaults) {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  const clock = new VirtualClock()
  const opened: Store[] = []
  t.after(async () => {
    for (const store of opened) await store.close()
    rmSync(folder, { recursive: true })
  })
  return async (): Promise<Store> => {
    const context = { clock, telemetry: createTelemetry(clock.id()), faults }
    const store = await openStore(`sqlite:${join(folder, 'headrace.db')}`, context)
    opened.push(store)
    return store
  }
}

/** Fails the n-th commit of one kind from now on, and no other. */
class FailingCommit implements Faults {
  readonly #point: FaultPoint
  countdown = 0

  constructor(point: FaultPoint) {
    this.#point = point
  }

  at(point: FaultPoint): void {
    if (point !== this.#point) return
    this.countdown -= 1
    if (this.countdown === 0) throw new Error(`planned failure at ${point}`)
  }
}

test('[T1] whichever commit of a move fails, its tick is in the pool or in the topic', async (t) => {
  const faults = new FailingCommit('move.before-commit')
  const ticks = await openTicks(await housing(t, faults)())
  const { pool, topic } = ticks
  await pool.put('a', { at: START })
  // If a move had several commits, a failure between two of them would show.
  for (const nth of [1, 2, 3]) {
    faults.countdown = nth
    await ticks.move().catch((error: unknown) => assert.match(String(error), /planned failure/))
    assert.equal((await pool.list()).length + (await topic.readAll()).length, 1, `commit ${nth} failed`)
  }
  assert.equal((await topic.readAll()).length, 1)
})

test('[J2] a tick of the table whose move failed moves afterwards', async (t) => {
  const faults = new FailingCommit('move.before-commit')
  const ticks = await openTicks(await housing(t, faults)(), { mode: 'one' })
  await ticks.pool.put('a', { at: START })
  faults.countdown = 1
  await assert.rejects(ticks.move(), /planned failure/)
  assert.equal((await ticks.move()).count, 1)
})

for (const kind of ['settle', 'mark', 'cancel'] as const)
  test(`[J2] a ${kind} whose commit failed has changed nothing, and is made when it is asked for again`, async (t) => {
    const faults = new FailingCommit(`${kind}.before-commit`)
    const pool = await openPool(await housing(t, faults)())
    await pool.put('a')
    const run = await pool.takeOne()
    const calls = {
      settle: () => pool.settle(run, { kind: 'done' }),
      mark: () => pool.mark(run, 1),
      cancel: () => pool.cancel('a'),
    }
    const before = await pool.list()
    faults.countdown = 1
    await assert.rejects(calls[kind], /planned failure/)
    assert.deepEqual(await pool.list(), before)
    await calls[kind]()
    assert.notDeepEqual(await pool.list(), before)
  })

test('[L2] an append whose commit failed leaves no gap', async (t) => {
  const faults = new FailingCommit('append.before-commit')
  const topic = await openTopic(await housing(t, faults)())
  faults.countdown = 1
  await assert.rejects(topic.append(0, 'a', 'b'), /planned failure/)
  assert.equal((await topic.append(0, 'c'))[0]?.offset, 0)
})

test('[J1] a tick that moved out of a segment with others does not move again after close and open', async (t) => {
  const open = housing(t)
  const first = await open()
  const before = await openTicks(first)
  // One request is one segment; its second and third entry wait on.
  await before.pool.putAll([0, 9, 10].map((ms) => asPut(`k${ms}`, { at: START + ms })))
  assert.equal((await before.move()).count, 1)
  await first.close()
  const after = await openTicks(await open())
  assert.equal((await after.move()).count, 0)
  assert.equal((await after.topic.readAll()).length, 1)
  assert.deepEqual(
    (await after.pool.list()).map(({ key }) => key),
    ['k9', 'k10'],
  )
})
