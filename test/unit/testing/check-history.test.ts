// The checker of histories finds what is planted, and nothing in a clean history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takenRun } from '../../../src/pool/entry.ts'
import type { Store } from '../../../src/store.ts'
import { asPut, openPool } from '../../../src/testing/pool-driver.ts'
import { openTicks } from '../../../src/testing/ticks-driver.ts'
import { START, type VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { openRecorded } from './open-recorded.ts'

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

/** What is found when a run that is due in 5 ms is taken at once, as one that is due then. */
async function takeEarly(dueAt: number): Promise<string[]> {
  const { store, check } = openRecorded(({ pool: { browse } }) => ({
    entries: {
      take: async (pool) => {
        const { entries } = await browse.list(pool, { limit: 1 })
        return { now: START, runs: entries.map((entry) => ({ ...takenRun(entry), dueAt })), nextDueAt: null }
      },
    },
  }))
  const pool = await openPool(store)
  await pool.put('a', { at: START + 5 })
  await pool.takeOne()
  return check()
}

test('[P1] a run taken before the lowest dueAt that was answered to its puts is found', async () => {
  assert.deepEqual(await takeEarly(START), [
    `[P2] a was taken as due at ${START}, and is due at ${START + 5}`,
    '[P1] a was taken 5 ms before any of its puts was due',
  ])
})

test('[P2] a run taken before its dueAt is found', async () => {
  assert.equal((await takeEarly(START + 5))[0], '[P2] a was taken 5 ms before its dueAt')
})

test('[D1] a take that tells another time than it is is found', async () => {
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      take: async (pool, request) => {
        const taken = await entries.take(pool, request)
        return { ...taken, now: taken.now + 400 }
      },
    },
  }))
  await (await openPool(store)).take()
  assert.deepEqual(await check(), [`[D1] a take tells ${START + 400}, and it is ${START}`])
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

test('[P3] a settle that its fence refused is no settle: the run goes on', async () => {
  let refuses = true
  const { store, check } = openRecorded(({ pool: { entries } }) => ({
    entries: {
      settle: async (pool, settlements, claim) =>
        refuses
          ? settlements.map(() => ({ result: 'refused', nextDueAt: null }))
          : entries.settle(pool, settlements, claim),
    },
  }))
  const pool = await openPool(store)
  await pool.put('a')
  const run = await pool.takeOne()
  await pool.settle(run, { kind: 'done' })
  refuses = false
  await pool.settle(run, { kind: 'done' })
  assert.deepEqual(await check(), [])
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
  const found = await check()
  assert.equal(found[0], `[S9] the settle of a tells ${START + 50}, and it is due at ${START}`)
  assert.ok(found.includes('[P1] the settle of a left nothing, and 1 puts wait'))
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
          response.kind !== 'answered'
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
      const headers = '{"lateMs":-1}'
      await log.append(topic, [{ id: `ticks/b/${at}`, key: 'b', partition: 0, value, headers }])
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
    `[C2] a move of a was answered created, due at ${START + 9}, with tally 1, and is replaced, due at ${START + 9}, with tally 2`,
    '[P4] a holds a tally of 1, and 2 puts wait',
  ])
})
