// Lists in which a key stands many times: rule [R1] of docs/spec/pool.md, beside the memory store on the same clock.
import assert from 'node:assert/strict'
import { noFaults } from '../fault.ts'
import type { Mode } from '../pool/entry.ts'
import type { Put } from '../pool/merge.ts'
import type { PoolSettings } from '../pool/store.ts'
import { createRandom } from '../random.ts'
import { openMemoryStore } from '../stores/memory/store.ts'
import { createTelemetry } from '../telemetry.ts'
import type { Case, Subject } from './contract.ts'
import { type PoolDriver, asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const PUTS = 10_000

/** Puts of four keys by every rule, with and without a time and a payload. */
function manyPuts(count: number, mode: Mode): Put[] {
  const random = createRandom(7)
  return Array.from({ length: count }, (_, nth) => {
    const onConflict = random.pick(['earliest', 'replace', 'keep'] as const)
    const isBounded = onConflict === 'replace' && mode === 'one' && random.below(4) === 0
    return asPut(random.pick(['due', 'backing', 'new', 'after']), {
      ...random.pick([{}, { inMs: random.below(40) }, { at: START + random.below(60) }]),
      payload: random.pick([undefined, `${nth}`]),
      onConflict,
      ...(isBounded ? { longestWaitMs: 5 + random.below(30) } : {}),
    })
  })
}

/** The store's pool and one in memory, with the same entries: due, backing off, and due with a run after it. */
async function openBoth(subject: Subject, given: Partial<PoolSettings>): Promise<[PoolDriver, PoolDriver]> {
  const { clock } = subject
  const memory = openMemoryStore({ clock, telemetry: createTelemetry(clock.id()), faults: noFaults })
  const pools = [await openPool(subject.store, given), await openPool(memory, given)] as const
  for (const pool of pools) {
    await pool.put('backing', { at: START - 1 })
    await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 30 })
    await pool.putAll([asPut('due', { at: START - 1 }), asPut('after', { at: START - 1 })])
    await pool.put('after', { at: START + 20, onConflict: 'replace', payload: '"after"' })
  }
  return [...pools]
}

async function compare(subject: Subject, given: Partial<PoolSettings>, count = PUTS): Promise<void> {
  const [pool, memory] = await openBoth(subject, given)
  const puts = manyPuts(count, given.mode ?? 'one')
  assert.deepEqual(await pool.putAll(puts), await memory.putAll(puts))
  const inventory = async (driver: PoolDriver): Promise<unknown> =>
    (await driver.list()).map((entry) => ({ ...entry, turn: 0 }))
  assert.deepEqual(await inventory(pool), await inventory(memory))
}

export const putListCases: Case[] = [
  {
    title: '[R1] a list in which keys stand thousands of times is answered put by put, as the rules say',
    run: (subject) => compare(subject, {}),
  },
  {
    title: '[R1] such a list of a throttled pool, too',
    run: (subject) => compare(subject, { throttleMs: 10 }),
  },
  {
    title: '[R1] such a list of a pool of mode each, too',
    run: (subject) => compare(subject, { mode: 'each' }),
  },
  {
    title: '[R1] [M14] such a list of a pool that keeps all payloads, too',
    run: (subject) => compare(subject, { payloads: 'all' }, 1000),
  },
]
