// The fault points of the memory store: who is stopped before a commit has changed nothing, and after it everything.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FaultPoint } from '../../../../src/fault.ts'
import { openMemoryStore } from '../../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { asEvent } from '../../../../src/testing/log-driver.ts'
import { asMember } from '../../../../src/testing/roster-driver.ts'
import { openTicks } from '../../../../src/testing/ticks-driver.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

/** A store with a member, one due tick and no event, whose calls are stopped at one point; and all that it holds. */
async function openStopped(point: FaultPoint) {
  const clock = new VirtualClock()
  let isSet = false
  const at = (reached: FaultPoint): void => {
    if (isSet && reached === point) throw new Error(point)
  }
  const store = openMemoryStore({ clock, telemetry: createTelemetry('store'), faults: { at } })
  const { pool, move } = await openTicks(store)
  await store.roster.join(asMember('a'), [])
  await pool.put('due')
  await clock.leap(10)
  const held = async (): Promise<string> =>
    JSON.stringify([await pool.list(), await store.log.topics(), await store.roster.view()])
  const run = await pool.takeOne()
  const before = await held()
  isSet = true
  const beat = { member: 'a', leaseMs: 3000, leads: true, health: {}, holding: {}, refused: [] }
  const calls: Record<string, () => Promise<unknown>> = {
    put: () => pool.put('new'),
    move: () => move(),
    append: () => store.log.append('ticked', [asEvent('e', 0)]),
    settle: () => pool.settle(run, { kind: 'done' }),
    mark: () => pool.mark(run, 1),
    cancel: () => pool.cancel('due'),
    roster: () => store.roster.drain('a', true),
    beat: () => store.pulse({ beat, pools: [] }),
  }
  return { call: calls[point.split('.')[0] as string] as () => Promise<unknown>, before, held }
}

for (const kind of ['put', 'move', 'append', 'settle', 'mark', 'cancel', 'roster', 'beat'] as const) {
  test(`[R1] a ${kind} that is stopped before its commit has changed nothing`, async () => {
    const { call, before, held } = await openStopped(`${kind}.before-commit`)
    await assert.rejects(call)
    assert.equal(await held(), before)
  })

  test(`[R1] a ${kind} that is stopped after its commit has taken effect`, async () => {
    const { call, before, held } = await openStopped(`${kind}.after-commit`)
    await assert.rejects(call)
    assert.notEqual(await held(), before)
  })
}
