// A long life, cut short: nothing is lost, early or twice; the same seed is the same life; and what a store does wrong to
// one tick of hundreds is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LongReport, liveLong } from '../../../src/lab/simulation/long-life.ts'
import type { Entry } from '../../../src/pool/entry.ts'
import { tickEvent } from '../../../src/pool/tick-event.ts'
import type { Store, StoreContext } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { through } from '../../../src/testing/through.ts'
import { openAhead } from '../testing/open-recorded.ts'

const MINUTE_MS = 60_000
const POOL = 'ticks'

/** The life on a store that does something of its own after the 500th put. */
function liveOn(wrong: (store: Store) => Promise<unknown>): Promise<LongReport> {
  const openStore = (context: StoreContext): Store => {
    const store = openMemoryStore(context)
    let puts = 0
    return through(store, async (path, call) => {
      const answer = await call()
      if (path === 'pool.entries.put' && ++puts === 500) await wrong(store)
      return answer
    })
  }
  return liveLong({ seed: 3, ms: 20 * MINUTE_MS, crashEveryMs: 10 * MINUTE_MS }, { openStore })
}

/** The tick that is due last, an hour and more from now, taken out of the pool. */
async function takeLast(store: Store): Promise<Entry> {
  const { entries } = await store.pool.browse.list(POOL, { limit: 10_000 })
  const last = entries.at(-1)
  assert.ok(last !== undefined)
  await store.pool.entries.cancel(POOL, { key: last.key, slot: last.slot })
  return last
}

/** What was found, of each kind. */
function found({ lost, early, twice, phantom, unanswered }: LongReport): Record<string, number> {
  return { lost, early, twice, phantom, unanswered }
}

const NONE = { lost: 0, early: 0, twice: 0, phantom: 0, unanswered: 0 }

test('an hour with a crash every ten minutes: every tick fires once and in time, or waits', async () => {
  const life = await liveLong({ seed: 1, ms: 60 * MINUTE_MS, crashEveryMs: 10 * MINUTE_MS })
  assert.deepEqual([life.violations, found(life)], [[], NONE])
  assert.deepEqual([life.ticks, life.crashes], [3600, 6])
  assert.ok(life.fired > 2000 && life.takeovers > 30 && life.askedAgain > 0, JSON.stringify(life))
})

test('the same seed is the same life, and another is another', async () => {
  const plan = { ms: 20 * MINUTE_MS, crashEveryMs: 5 * MINUTE_MS }
  const hashes = []
  for (const seed of [7, 7, 8]) hashes.push((await liveLong({ seed, ...plan })).hash)
  assert.equal(hashes[0], hashes[1])
  assert.notEqual(hashes[0], hashes[2])
})

test('a tick that is lost before it is due is found', async () => {
  const life = await liveOn(takeLast)
  assert.deepEqual(found(life), { ...NONE, lost: 1 })
  assert.match(life.violations[0] ?? '', /^item-\d+ neither fired nor waits$/)
})

test('a due tick that is lost is found when it is late', async () => {
  const life = await liveOn(async (store) => {
    const { entries } = await store.pool.browse.list(POOL, { limit: 1 })
    for (const { key } of entries) await store.pool.entries.cancel(POOL, { key })
  })
  assert.deepEqual(found(life), { ...NONE, lost: 1 })
  assert.match(life.violations[0] ?? '', /has not fired$/)
})

test('a tick that is moved early is found', async () => {
  const life = await liveOn(async (store) => {
    const { key, slot, next, putAt } = await takeLast(store)
    const event = tickEvent(POOL, { key, slot, ...next }, { now: putAt, partitions: 32 })
    await store.log.append(POOL, [event])
  })
  assert.deepEqual(found(life), { ...NONE, early: 1 })
})

test('[T2] a mover whose clock runs 400 ms ahead is found', async () => {
  const plan = { seed: 3, ms: 20 * MINUTE_MS, crashEveryMs: 10 * MINUTE_MS }
  const { early, fired } = await liveLong(plan, { openStore: openAhead(400) })
  assert.ok(fired > 500 && early > 0.9 * fired, `${early} of ${fired}`)
})

test('a tick that is moved twice is found, and so is one that nobody asked for', async () => {
  const life = await liveOn(async (store) => {
    const from = Array.from({ length: 32 }, (_, partition) => ({ partition, offset: 0 }))
    const { events } = await store.log.read(POOL, { from, limit: 1, maxBytes: 1000 })
    for (const { offset: _, time: __, ...event } of events)
      await store.log.append(POOL, [event, { ...event, id: 'ticks/x/y', key: 'x' }])
  })
  assert.deepEqual(found(life), { ...NONE, twice: 1, phantom: 1 })
})

test('puts that are never answered are found', async () => {
  const openStore = (context: StoreContext): Store => {
    const store = openMemoryStore(context)
    const endMs = 15 * MINUTE_MS + context.clock.mono()
    return through(store, async (path, call) => {
      const answer = await call()
      const isLost = path === 'pool.entries.put' && context.clock.mono() > endMs
      return isLost ? new Promise(() => undefined) : answer
    })
  }
  const life = await liveLong({ seed: 3, ms: 16 * MINUTE_MS, crashEveryMs: 60 * MINUTE_MS }, { openStore })
  assert.ok(life.unanswered > 0 && life.lost === 0, JSON.stringify(life))
  assert.match(life.violations.join(), /puts were never answered/)
})
