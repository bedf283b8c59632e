// What every store that moves ticks must do: rules [T1] to [T5] of docs/spec/pool.md.
import assert from 'node:assert/strict'
import { partitionOf } from '../partition.ts'
import { type Case, type OpenSubject, registerCases } from './contract.ts'
import { MANY, asPut } from './pool-driver.ts'
import { rememberCases } from './remember-contract.ts'
import { openTicks } from './ticks-driver.ts'
import { START } from './virtual-clock.ts'

const nothing = { count: 0, latenessMs: [], refused: [] }

const movingCases: Case[] = [
  {
    title: '[T1] a due tick becomes an event once, and its entry is gone',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store)
      await pool.put('a', { at: START })
      assert.deepEqual(await move(), { count: 1, now: START, latenessMs: [0], nextDueAt: null, refused: [] })
      assert.deepEqual(await move(), { ...nothing, now: START, nextDueAt: null })
      assert.equal((await topic.readAll()).length, 1)
      assert.deepEqual(await pool.list(), [])
    },
  },
  {
    title: '[T1] concurrent moves move each tick once',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store)
      await pool.putAll(Array.from({ length: 300 }, (_, index) => asPut(`k${index}`)))
      const moves = await Promise.all(Array.from({ length: 8 }, () => move(50)))
      assert.equal(
        moves.reduce((sum, { count }) => sum + count, 0),
        300,
      )
      assert.equal(new Set((await topic.readAll()).map(({ id }) => id)).size, 300)
      assert.equal((await topic.readAll()).length, 300)
    },
  },
  {
    title: '[T1] a move to a topic that does not exist leaves the ticks where they are',
    run: async ({ store }) => {
      const { pool, move } = await openTicks(store)
      await pool.put('a', { at: START })
      const nowhere = { pool: 'ticks', topic: 'none', limit: MANY, claim: pool.claim }
      await assert.rejects(store.mover.move(nowhere), { code: 'topic_unknown' })
      assert.equal((await pool.list()).length, 1)
      assert.equal((await move()).count, 1)
    },
  },
  {
    title: '[T1] when nothing is due nothing is written',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store)
      assert.deepEqual(await move(), { ...nothing, now: START, nextDueAt: null })
      await pool.put('a', { at: START + 5 })
      const before = await pool.list()
      assert.deepEqual(await move(), { ...nothing, now: START, nextDueAt: START + 5 })
      assert.deepEqual(await pool.list(), before)
      assert.deepEqual(await topic.readAll(), [])
    },
  },
  {
    title: '[T2] a tick moves at its dueAt and not a millisecond before, and its lateness is told',
    run: async ({ store, clock }) => {
      const { pool, move } = await openTicks(store)
      await pool.put('a', { at: START + 1000 })
      await pool.put('b', { at: START + 1200 })
      await clock.leap(999)
      assert.deepEqual(await move(), { ...nothing, now: START + 999, nextDueAt: START + 1000 })
      await clock.leap(51)
      const moved = await move()
      assert.deepEqual(moved, {
        count: 1,
        now: START + 1050,
        latenessMs: [50],
        nextDueAt: START + 1200,
        refused: [],
      })
    },
  },
  {
    title: '[T1] a cancelled tick does not move, and a rescheduled one moves at its new time',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store)
      for (const key of ['a', 'b']) await pool.put(key, { at: START + 5 })
      await pool.cancel('a', START + 5)
      await pool.reschedule('b', START + 5, START + 9)
      await clock.leap(8)
      assert.equal((await move()).count, 0)
      await clock.leap(1)
      assert.equal((await move()).count, 1)
      assert.equal((await topic.readAll())[0]?.id, 'ticks/b/2027-01-01T00:00:00.009Z')
    },
  },
  {
    title: '[T1] ticks of every lane move, and dead entries do not',
    run: async ({ store }) => {
      const { pool, move } = await openTicks(store)
      await pool.put('dead')
      await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
      for (const lane of ['fanout', 'normal', 'bulk'] as const) await pool.put(lane, { lane })
      const moved = await move()
      assert.deepEqual([moved.count, moved.nextDueAt], [3, null])
    },
  },
]

const eventCases: Case[] = [
  {
    title: '[T3] the event has the id (pool, item, at), the item as key, and its lateness',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store)
      await pool.put('user "é"', { at: START + 5, payload: '{"n":  1}' })
      await clock.leap(12)
      await move()
      const partition = partitionOf('user "é"', 2)
      assert.deepEqual(await topic.read(partition), [
        {
          id: 'ticks/user "é"/2027-01-01T00:00:00.005Z',
          key: 'user "é"',
          partition,
          value: '{"item":"user \\"é\\"","at":"2027-01-01T00:00:00.005Z","payload":{"n":  1}}',
          headers: '{"lateMs":7}',
          offset: 0,
          time: START + 12,
        },
      ])
    },
  },
  {
    title: '[T3] without a payload the event has none, and with JSON null it has null',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store)
      await pool.put('a', { at: START - 5 })
      await pool.put('b', { at: START, payload: 'null' })
      await move()
      const values = (await topic.readAll()).map(({ value }) => value).toSorted()
      assert.deepEqual(values, [
        '{"item":"a","at":"2026-12-31T23:59:59.995Z"}',
        '{"item":"b","at":"2027-01-01T00:00:00.000Z","payload":null}',
      ])
    },
  },
  {
    title: '[T4] events stand in due order in each partition of the topic',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store)
      const puts = Array.from({ length: 500 }, (_, index) => {
        return asPut(`k${index}`, { at: START + ((index * 37) % 211) })
      })
      await pool.putAll(puts)
      await clock.leap(300)
      assert.equal((await move()).count, 500)
      for (const partition of [0, 1]) {
        const late = (await topic.read(partition)).map(({ headers }) => Number(headers?.replace(/\D/g, '')))
        assert.deepEqual(
          late,
          late.toSorted((a, b) => b - a),
        )
      }
    },
  },
  {
    title: '[T4] a move takes at most its limit, the earliest first, and tells when the next is due',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store, { partitions: 1 })
      for (const at of [30, 10, 20]) await pool.put('a', { at: START + at })
      await clock.leap(50)
      const moved = await move(2)
      assert.deepEqual(moved, {
        count: 2,
        now: START + 50,
        latenessMs: [40, 30],
        nextDueAt: START + 30,
        refused: [],
      })
      assert.deepEqual(await move(2), {
        count: 1,
        now: START + 50,
        latenessMs: [20],
        nextDueAt: null,
        refused: [],
      })
      const ids = (await topic.readAll()).map(({ id }) => id.slice(-4, -1))
      assert.deepEqual(ids, ['010', '020', '030'])
    },
  },
  {
    title: '[T4] due order goes before lanes: an earlier tick of a slower lane moves first',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store, { partitions: 1 })
      await pool.put('a', { at: START + 30, lane: 'fanout' })
      await pool.put('a', { at: START + 20, lane: 'normal' })
      await pool.put('a', { at: START + 10, lane: 'bulk' })
      await clock.leap(50)
      assert.deepEqual((await move(2)).latenessMs, [40, 30])
      assert.deepEqual((await move(2)).latenessMs, [20])
      const ids = (await topic.readAll()).map(({ id }) => id.slice(-4, -1))
      assert.deepEqual(ids, ['010', '020', '030'])
    },
  },
]

const modeOneCases: Case[] = [
  {
    title: '[T1] in mode one a tick of many puts is one event, with the latest payload',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store, { mode: 'one' })
      for (const payload of ['1', '2', '3']) await pool.put('a', { payload })
      assert.equal((await move()).count, 1)
      const [event] = await topic.readAll()
      assert.equal(event?.value, '{"item":"a","at":"2027-01-01T00:00:00.000Z","payload":3}')
      assert.equal(await pool.find('a'), null)
    },
  },
  {
    title: '[T1] in mode one the run after a tick waits for its own time',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store, { mode: 'one' })
      await pool.put('a', { payload: '1' })
      await pool.put('a', { at: START + 50, payload: '2' })
      assert.deepEqual(await move(), {
        count: 1,
        now: START,
        latenessMs: [0],
        nextDueAt: START + 50,
        refused: [],
      })
      await clock.leap(49)
      assert.equal((await move()).count, 0)
      await clock.leap(1)
      assert.equal((await move()).count, 1)
      const payloads = (await topic.readAll()).map(({ value }) => value.slice(-2, -1))
      assert.deepEqual(payloads, ['1', '2'])
    },
  },
]

export function moverContract(name: string, open: OpenSubject): void {
  registerCases(`${name}: move`, open, movingCases)
  registerCases(`${name}: the event of a tick`, open, eventCases)
  registerCases(`${name}: ticks in mode one`, open, modeOneCases)
  registerCases(`${name}: remember`, open, rememberCases)
}
