// The checker of histories finds what is planted, and nothing in a clean history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import type { Entries } from '../../../src/pool/store.ts'
import type { Store } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { checkHistory } from '../../../src/testing/check-history.ts'
import { History } from '../../../src/testing/history.ts'
import { asPut, openPool } from '../../../src/testing/pool-driver.ts'
import { openTicks } from '../../../src/testing/ticks-driver.ts'
import { START, VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** What a test changes of the entries or the mover of a sound store. */
type Sabotage = (store: Store) => { entries?: Partial<Entries>; move?: Store['mover']['move'] }

function openRecorded(sabotage: Sabotage = () => ({})): {
  store: Store
  clock: VirtualClock
  check(pool?: string): Promise<string[]>
} {
  const clock = new VirtualClock()
  const sound = openMemoryStore({ clock, telemetry: createTelemetry('member'), faults: noFaults })
  const { entries = {}, move } = sabotage(sound)
  const real = sound.pool.entries
  const bound: Entries = {
    open: (settings) => real.open(settings),
    put: (pool, requests) => real.put(pool, requests),
    cancel: (pool, name) => real.cancel(pool, name),
    reschedule: (pool, change) => real.reschedule(pool, change),
    take: (pool, request) => real.take(pool, request),
    settle: (pool, settlements, claim) => real.settle(pool, settlements, claim),
    ...entries,
  }
  const history = new History(clock)
  const mover = move === undefined ? sound.mover : { move }
  const store = history.wrap({ ...sound, mover, pool: { ...sound.pool, entries: bound } })
  const check = async (pool = 'work'): Promise<string[]> => {
    const { entries: left } = await sound.pool.browse.list(pool, { limit: 1000 })
    return checkHistory(history.records, { entries: new Map([[pool, left]]) })
  }
  return { store, clock, check }
}

/** Puts three times, one of them for later, and settles until nothing is left. */
async function workThrough(store: Store, clock: VirtualClock): Promise<void> {
  const pool = await openPool(store)
  await pool.put('a')
  const run = await pool.takeOne()
  await pool.put('a')
  await pool.put('a', { at: START + 50 })
  await pool.settle(run, { kind: 'done' })
  await clock.leap(50)
  for (const left of await pool.take()) await pool.settle(left, { kind: 'done' })
  for (const left of await pool.take()) await pool.settle(left, { kind: 'done' })
}

test('[P4] a clean history of every kind of call has no violation', async () => {
  const { store, clock, check } = openRecorded()
  await workThrough(store, clock)
  const pool = await openPool(store)
  for (const onConflict of ['earliest', 'replace', 'keep'] as const) {
    await pool.put('b', { at: clock.now() + 10, onConflict })
  }
  await pool.reschedule('b', null, clock.now() + 5)
  await clock.leap(5)
  await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: clock.now() + 5 })
  await pool.put('b', { at: clock.now() + 90 })
  await clock.leap(5)
  const run = await pool.takeOne()
  await pool.settle(run, { kind: 'dead', reason: 'attempts', error: null })
  await pool.settle(run, { kind: 'done' })
  await pool.put('c', { at: clock.now() + 1 })
  await pool.cancel('c')
  await pool.put('d')
  await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
  assert.deepEqual(await check(), [])
})

test('[P1] a put that the store forgot is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      put: async (pool, requests) => {
        const responses = await entries.put(pool, requests)
        await entries.cancel(pool, { key: 'lost' })
        return responses
      },
    },
  }))
  const pool = await openPool(store)
  await pool.put('lost', { at: START + 5 })
  await pool.put('sound', { at: START + 5 })
  assert.deepEqual(await check(), ['[P1] 1 answered puts of lost are lost'])
})

test('[P1] a run taken before the lowest dueAt that was answered to its puts is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      take: async (pool, request) => {
        const { now, runs, nextDueAt } = await entries.take(pool, request)
        return { now: now - 5, runs: runs.map((run) => ({ ...run, dueAt: now - 5 })), nextDueAt }
      },
    },
  }))
  const pool = await openPool(store)
  await pool.put('a')
  await pool.takeOne()
  assert.deepEqual(await check(), ['[P1] a was taken 5 ms before any of its puts was due'])
})

test('[P2] a run taken before its dueAt is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      take: async (pool, request) => {
        const taken = await entries.take(pool, request)
        return { ...taken, now: taken.now - 1 }
      },
    },
  }))
  const pool = await openPool(store)
  await pool.put('a')
  await pool.takeOne()
  assert.equal((await check())[0], '[P2] a was taken 1 ms before its dueAt')
})

test('[P3] a turn that settles twice is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      settle: async (pool, settlements, claim) =>
        (await entries.settle(pool, settlements, claim)).map((answer) => ({ ...answer, result: 'settled' })),
    },
  }))
  const pool = await openPool(store)
  await pool.put('a')
  const run = await pool.takeOne()
  await pool.settle(run, { kind: 'done' })
  await pool.settle(run, { kind: 'done' })
  assert.equal((await check())[0], `[P3] turn ${run.turn} of a settled twice`)
})

test('[P3] a stale settle that counted after cancel and put is found', async () => {
  let lastTurn = 0
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      take: async (pool, request) => {
        const taken = await entries.take(pool, request)
        lastTurn = taken.runs[0]?.turn ?? lastTurn
        return { ...taken, runs: taken.runs.map((run) => ({ ...run, turn: 1 })) }
      },
      settle: (pool, settlements, claim) =>
        entries.settle(
          pool,
          settlements.map((settlement) => ({ ...settlement, turn: settlement.turn + lastTurn })),
          claim,
        ),
    },
  }))
  const pool = await openPool(store)
  await pool.put('a')
  const stale = await pool.takeOne()
  await pool.cancel('a')
  await pool.put('a')
  await pool.settle(stale, { kind: 'done' })
  assert.equal((await check())[0], '[P3] turn 1 of a settled, and it was planned anew since')
})

test('[P4] a settle that ignores a grown tally is found', async () => {
  const { store, clock, check } = openRecorded(({ pool: { entries, browse } }) => ({
    entries: {
      settle: async (pool, settlements, claim) => {
        const grown = settlements.map(async (settlement) => {
          const entry = await browse.get(pool, settlement)
          return { ...settlement, seen: entry?.next.tally ?? settlement.seen }
        })
        return entries.settle(pool, await Promise.all(grown), claim)
      },
    },
  }))
  await workThrough(store, clock)
  assert.equal((await check())[0], '[P1] the settle of a left nothing, and 1 puts wait')
})

test('[P4] a put that is answered and not counted is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      put: async (pool, requests) => {
        const kept = requests.map(({ puts, repeat }) => {
          return { puts: puts.map((put) => ({ ...put, onConflict: 'keep' as const })), repeat }
        })
        const responses = await entries.put(pool, kept)
        return responses.map((response) =>
          response.kind === 'mismatch'
            ? response
            : { ...response, answers: response.answers.map((answer) => merged(answer)) },
        )
      },
    },
  }))
  const merged = (answer: { result: string; dueAt: number; tally: number }) =>
    answer.result === 'kept'
      ? { result: 'merged' as const, dueAt: answer.dueAt, tally: answer.tally + 1 }
      : { result: 'created' as const, dueAt: answer.dueAt, tally: answer.tally }
  const pool = await openPool(store)
  await pool.put('a', { at: START + 5 })
  await pool.put('a', { at: START + 5 })
  assert.deepEqual(await check(), ['[P4] a holds a tally of 1, and 2 puts wait'])
})

async function postAndMove(store: Store, clock: VirtualClock): Promise<void> {
  const { pool, move } = await openTicks(store)
  await pool.put('a', { at: START + 5 })
  await clock.leap(5)
  await move()
}

test('[T1] a tick that was removed and not appended is found as lost', async () => {
  const { store, clock, check } = openRecorded(({ pool: { entries } }) => ({
    move: async () => {
      await entries.cancel('ticks', { key: 'a' })
      return { count: 1, now: START + 5, latenessMs: [0], nextDueAt: null, refused: [] }
    },
  }))
  await postAndMove(store, clock)
  assert.deepEqual(await check('ticks'), [`[P1] 1 answered puts of a at ${START + 5} are lost`])
})

test('[T1] a tick that was appended twice is found', async () => {
  const { store, clock, check } = openRecorded(({ mover, log }) => ({
    move: async (request) => {
      const moved = await mover.move(request)
      for (const { partition } of (await log.topic(request.topic)).bounds) {
        const from = [{ partition, offset: 0 }]
        const { events } = await log.read(request.topic, { from, limit: 9, maxBytes: Infinity })
        await log.append(request.topic, events)
      }
      return moved
    },
  }))
  await postAndMove(store, clock)
  const id = 'ticks/a/2027-01-01T00:00:00.005Z'
  assert.deepEqual(await check('ticks'), [`[P3] the tick ${id} moved twice, or was never put`])
})

test('[T2] a tick that was moved early is found', async () => {
  const { store, clock, check } = openRecorded(({ log, pool: { entries } }) => ({
    move: async ({ topic }) => {
      const at = '2027-01-01T00:00:00.006Z'
      const value = JSON.stringify({ item: 'b', at })
      await log.append(topic, [{ id: `ticks/b/${at}`, key: 'b', partition: 0, value, headers: null }])
      await entries.cancel('ticks', { key: 'b' })
      return { count: 1, now: START + 5, latenessMs: [-1], nextDueAt: null, refused: [] }
    },
  }))
  await (await openTicks(store)).pool.put('b', { at: START + 6 })
  await clock.leap(5)
  await (await openTicks(store)).move()
  assert.deepEqual(await check('ticks'), [
    '[P2] the tick ticks/b/2027-01-01T00:00:00.006Z moved 1 ms before its dueAt',
  ])
})

test('[C2] a tick that was moved onto a fired slot, and so lost, is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      reschedule: async (pool, { key, slot, at }) => {
        await entries.cancel(pool, { key, slot })
        return { kind: 'moved', answer: { result: 'kept', dueAt: at, tally: 0 } }
      },
    },
  }))
  const { pool, move } = await openTicks(store, { rememberMs: 1000 })
  await pool.put('a', { at: START })
  await pool.put('a', { at: START + 5 })
  await move()
  await pool.reschedule('a', START + 5, START)
  const lost = `a at ${START + 5} was moved to a slot that runs no more, and is lost`
  assert.deepEqual(await check('ticks'), [`[P1] ${lost}`])
})

test('[C2] a move that drops puts of its run is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      reschedule: async (pool, change) => {
        await entries.cancel(pool, change)
        const put = asPut(change.key, { at: change.at })
        await entries.put(pool, [{ puts: [put], repeat: null }])
        return { kind: 'moved', answer: { result: 'created', dueAt: change.at, tally: 1 } }
      },
    },
  }))
  const pool = await openPool(store)
  await pool.put('a', { at: START + 5 })
  await pool.put('a', { at: START + 5 })
  await pool.reschedule('a', null, START + 9)
  assert.deepEqual(await check(), [
    '[P4] a was moved with a tally of 1, and 2 puts wait',
    '[P4] a holds a tally of 1, and 2 puts wait',
  ])
})
