// The checker of histories computes what must be answered, and does not take the word of the store for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../src/store.ts'
import { asPut, openPool } from '../../../src/testing/pool-driver.ts'
import { openTicks } from '../../../src/testing/ticks-driver.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openAhead, openRecorded, rewritten } from './open-recorded.ts'

const HOUR_MS = 3_600_000

for (const mode of ['each', 'one'] as const) {
  void test(`[T2] a mover whose clock runs 400 ms ahead is found in mode ${mode}`, async () => {
    const { store, clock, check } = openRecorded(undefined, openAhead(400))
    const { pool, move } = await openTicks(store, { mode })
    await pool.put('a', { at: START + 500 })
    await clock.leap(100)
    await move()
    const id = 'ticks/a/2027-01-01T00:00:00.500Z'
    assert.deepEqual(await check('ticks'), [
      `[P2] the tick ${id} moved 400 ms before its dueAt`,
      `[T2] the tick ${id} moved by a clock 400 ms off`,
      `[T3] the tick ${id} tells 0 ms, and is -400 late`,
    ])
  })
}

/** What is found in puts of every rule, on an entry that waits and on one that is due, in mode one. */
async function findIn(put: (store: Store) => ReturnType<typeof rewritten>): Promise<string[]> {
  const { store, clock, check } = openRecorded((sound) => ({ entries: { put: put(sound) } }))
  const pool = await openPool(store)
  for (const onConflict of ['earliest', 'replace', 'earliest'] as const) {
    await pool.put('a', { at: START + HOUR_MS, onConflict })
  }
  await pool.put('b')
  await clock.leap(1)
  for (const at of [null, START + HOUR_MS]) await pool.put('b', { at })
  return check()
}

/** The rules that are broken, each once. */
function rulesOf(violations: string[]): string[] {
  return [...new Set(violations.map((violation) => violation.slice(1, 3)))]
}

test('[M1] a sound store that is put so is in order', async () => {
  assert.deepEqual(await findIn((store) => rewritten(store, (put) => put)), [])
})

test('[M1] [M4] [M5] [M7] a put that is planned an hour late is found', async () => {
  const found = await findIn((store) =>
    rewritten(store, (put) => ({ ...put, at: (put.at ?? START) + HOUR_MS })),
  )
  const [is, should] = [START + 2 * HOUR_MS, START + HOUR_MS]
  assert.equal(
    found[0],
    `[M1] a put of a was answered created, due at ${is}, with tally 1, and is created, due at ${should}, with tally 1`,
  )
  for (const rule of ['M1', 'M4', 'M5', 'M6', 'M7'])
    assert.ok(rulesOf(found).includes(rule), found.join('\n'))
})

test('[M1] [M4] [M5] [M7] a put that is planned two seconds early is found', async () => {
  const found = await findIn((store) =>
    rewritten(store, (put) => ({ ...put, at: put.at === null ? null : put.at - 2000 })),
  )
  for (const rule of ['M1', 'M4', 'M5', 'M7']) assert.ok(rulesOf(found).includes(rule), found.join('\n'))
})

test('[M8] a store that keeps whatever the rule is found', async () => {
  const found = await findIn((store) => rewritten(store, (put) => ({ ...put, onConflict: 'keep' })))
  for (const rule of ['M4', 'M5', 'M6', 'M7']) assert.ok(rulesOf(found).includes(rule), found.join('\n'))
})

test('[M8] a store that merges what is to be kept is found', async () => {
  const { store, check } = openRecorded((sound) => ({
    entries: { put: rewritten(sound, (put) => ({ ...put, onConflict: 'earliest' })) },
  }))
  const pool = await openPool(store)
  for (const onConflict of ['earliest', 'keep'] as const) await pool.put('a', { at: START + 5, onConflict })
  assert.deepEqual(rulesOf(await check()), ['M8', 'P4'])
})

test('[C2] an entry that is moved to another time than asked is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: { reschedule: (pool, change) => entries.reschedule(pool, { ...change, at: change.at + 1 }) },
  }))
  const pool = await openPool(store)
  await pool.put('a', { at: START + 5 })
  await pool.reschedule('a', null, START + 9)
  assert.deepEqual(rulesOf(await check()), ['C2', 'P1'])
})

test('[C2] an entry that is not due, and is left as too late, is found', async () => {
  const { store, check } = openRecorded(() => ({
    entries: { reschedule: async () => ({ kind: 'due' }) },
  }))
  const pool = await openPool(store)
  await pool.put('a', { at: START + 5 })
  await pool.reschedule('a', null, START + 9)
  assert.deepEqual(await check(), ['[C2] a was left as too late, and is not due'])
})

test('[T5] a slot that was to be remembered, and is put again, is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: { open: (settings) => entries.open({ ...settings, rememberMs: 0 }) },
  }))
  const { pool, move } = await openTicks(store, { rememberMs: 1000 })
  await pool.put('a', { at: START })
  await move()
  await pool.put('a', { at: START })
  assert.equal(rulesOf(await check('ticks'))[0], 'T5')
})

test('[P1] a put that waits for another time than was answered is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      put: async (pool, requests) => {
        const responses = await entries.put(pool, requests)
        await entries.put(pool, [
          { puts: [asPut('a', { at: START + 9, onConflict: 'replace' })], repeat: null },
        ])
        return responses
      },
    },
  }))
  const pool = await openPool(store)
  await pool.put('a', { at: START + 5 })
  assert.deepEqual(await check(), [`[P1] a waits for ${START + 9}, and is due at ${START + 5}`])
})
