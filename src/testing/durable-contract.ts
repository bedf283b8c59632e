// What every store that outlives its process must do: nothing is lost by close and open, and two openings of
// one store at once see each other's work.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_CONTROL } from '../pool/control.ts'
import type { Store } from '../store.ts'
import { asEvent, openTopic } from './log-driver.ts'
import { asPut, openPool } from './pool-driver.ts'
import { openTicks } from './ticks-driver.ts'
import { START, VirtualClock } from './virtual-clock.ts'

export interface Durable {
  /** A place for a new, empty store. */
  create(): Promise<string>
  /** Opens the store at a place; several may be open at once. */
  open(place: string, clock: VirtualClock): Promise<Store>
  remove(place: string): Promise<void>
}

interface House {
  clock: VirtualClock
  /** One more opening of the same store. */
  open(): Promise<Store>
}

interface DurableCase {
  title: string
  run(house: House): Promise<void>
}

const REPEAT = { id: 'request-1', fingerprint: 'print-1', keepMs: 600_000 }
const CONTROL = { ...NO_CONTROL, paused: { by: 'me', reason: null, since: START, until: START + 5 } }
const DEAD = { kind: 'dead', reason: 'attempts', error: 'it broke' } as const

const reopenCases: DurableCase[] = [
  {
    title: '[W1] [L11] entries of every state, a pause and limits are the same after close and open',
    run: async ({ open }) => {
      const first = await open()
      const pool = await openPool(first)
      await pool.put('dead')
      await pool.settle(await pool.takeOne(), DEAD)
      await pool.put('busy', { payload: '1' })
      const run = await pool.takeOne()
      await pool.settle(run, { kind: 'retry', dueAt: START + 50 })
      await pool.put('busy', { at: START + 90, payload: 'null' })
      await pool.put('waiting', { at: START + 10, lane: 'bulk', group: 'g' })
      const [entries, deaths] = [await pool.list(), await pool.deaths()]
      await first.pool.control.write('work', 0, CONTROL)
      await first.close()
      const second = await open()
      const again = await openPool(second)
      assert.deepEqual((await second.pool.control.read('work')).control, CONTROL)
      assert.deepEqual(await again.list(), entries)
      assert.deepEqual(await again.deaths(), deaths)
    },
  },
  {
    title: '[W1] a turn is not reused after close and open, even when nothing was left',
    run: async ({ open }) => {
      const first = await open()
      const pool = await openPool(first, { partitions: 1 })
      await pool.putAll(Array.from({ length: 50 }, (_, index) => asPut(`k${index}`)))
      const turns = new Set((await pool.take()).map(({ turn }) => turn))
      for (const run of await pool.take()) await pool.settle(run, { kind: 'done' })
      await first.close()
      const again = await openPool(await open(), { partitions: 1 })
      await again.putAll(Array.from({ length: 50 }, (_, index) => asPut(`k${index}`)))
      for (const { turn } of await again.take()) assert.ok(!turns.has(turn), `turn ${turn} was used before`)
    },
  },
  {
    title: '[W1] a stale settle from before the close is gone after it',
    run: async ({ open }) => {
      const first = await open()
      const pool = await openPool(first)
      await pool.put('a')
      const stale = await pool.takeOne()
      await pool.cancel('a')
      await first.close()
      const again = await openPool(await open())
      await again.put('a')
      assert.deepEqual(await again.settle(stale, { kind: 'done' }), { result: 'gone', nextDueAt: START })
    },
  },
  {
    title: '[W1] settings are still fixed after close and open, and so is a retention that nobody names',
    run: async ({ open }) => {
      const first = await open()
      await openPool(first, { mode: 'each', partitions: 3 })
      await openTopic(first, { partitions: 3, retentionMs: 1000 })
      await first.close()
      const again = await open()
      await assert.rejects(openPool(again, { mode: 'one', partitions: 3 }), { code: 'pool_mismatch' })
      await assert.rejects(openTopic(again, { partitions: 2 }), { code: 'topic_mismatch' })
      await openTopic(again, { partitions: 3, retentionMs: null })
      assert.equal((await again.log.topic('events')).retentionMs, 1000)
    },
  },
  {
    title: '[W1] events, offsets and what retention removed are the same after close and open',
    run: async ({ open, clock }) => {
      const first = await open()
      const topic = await openTopic(first, { retentionMs: 1000 })
      await topic.append(0, 'a', 'b')
      await clock.leap(1001)
      await topic.append(0, 'c')
      await topic.append(1, 'd')
      await topic.trim()
      const [events, bounds] = [await topic.readAll(), await topic.bounds()]
      await first.close()
      const again = await openTopic(await open(), { retentionMs: 1000 })
      assert.deepEqual(await again.readAll(), events)
      assert.deepEqual(await again.bounds(), bounds)
      await assert.rejects(again.read(0, 1), { code: 'offset_gone' })
      assert.equal((await again.append(0, 'e'))[0]?.offset, 3)
    },
  },
  {
    title: '[W1] a repeated request is known after close and open',
    run: async ({ open }) => {
      const first = await open()
      const pool = await openPool(first)
      const response = await pool.request([asPut('a'), asPut('b')], REPEAT)
      await first.close()
      const again = await openPool(await open())
      assert.deepEqual(await again.request([asPut('a'), asPut('b')], REPEAT), { ...response, replayed: true })
      const other = { ...REPEAT, fingerprint: 'print-2' }
      assert.deepEqual(await again.request([asPut('c')], other), { kind: 'mismatch' })
      assert.equal((await again.get('a')).next.tally, 1)
    },
  },
  {
    title: '[W1] ticks wait, fire and are remembered across close and open',
    run: async ({ open, clock }) => {
      const first = await open()
      const before = await openTicks(first, { rememberMs: 1000 })
      await before.pool.put('fired', { at: START })
      await before.pool.put('waits', { at: START + 5 })
      await before.move()
      await first.close()
      await clock.leap(5)
      const { pool, topic, move } = await openTicks(await open(), { rememberMs: 1000 })
      assert.equal((await pool.put('fired', { at: START })).result, 'kept')
      const moved = { count: 1, now: START + 5, latenessMs: [0], nextDueAt: null, refused: [] }
      assert.deepEqual(await move(), moved)
      assert.equal((await topic.readAll()).length, 2)
    },
  },
]

const together: DurableCase[] = [
  {
    title: '[T5] two openings remember for as long as one of them was told to, and a repeat fires once',
    run: async ({ open, clock }) => {
      const told = await openTicks(await open(), { rememberMs: 1000 })
      const untold = await openTicks(await open(), { rememberMs: null })
      await untold.pool.put('a', { at: START })
      await untold.move()
      for (const { pool } of [told, untold]) assert.equal((await pool.put('a', { at: START })).result, 'kept')
      await told.move()
      assert.equal((await told.topic.readAll()).length, 1)
      await clock.leap(1000)
      assert.equal((await untold.pool.put('a', { at: START })).result, 'created')
    },
  },
  {
    title: '[T5] an opening that is told another time changes it for all',
    run: async ({ open, clock }) => {
      const left = await openTicks(await open())
      const right = await openTicks(await open(), { rememberMs: 1000 })
      await left.pool.put('a', { at: START })
      await left.move()
      assert.equal((await left.pool.put('a', { at: START })).result, 'kept')
      await openTicks(await open(), { rememberMs: 0 })
      await clock.leap(1)
      for (const { pool, move } of [left, right]) {
        assert.equal((await pool.put('a', { at: START })).result, 'created')
        await move()
      }
    },
  },
  {
    title: '[W2] two openings see each other’s puts, cancels and settles at once',
    run: async ({ open }) => {
      const left = await openPool(await open())
      const right = await openPool(await open())
      await left.put('a', { at: START })
      assert.deepEqual(await right.put('a', { at: START, onConflict: 'keep' }), {
        result: 'kept',
        dueAt: START,
        tally: 1,
      })
      const run = await right.takeOne()
      await left.put('a')
      await right.settle(run, { kind: 'done' })
      assert.equal((await left.takeOne()).seen, 1)
      await left.cancel('a')
      assert.equal(await right.find('a'), null)
      assert.deepEqual(await right.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
    },
  },
  {
    title: '[W2] puts of one key through two openings are all in its tally',
    run: async ({ open }) => {
      const pools = [await openPool(await open()), await openPool(await open())]
      const puts = Array.from({ length: 60 }, async (_, index) =>
        pools[index % 2]?.put('a', { at: START + 9 }),
      )
      const tallies = (await Promise.all(puts)).map((answer) => answer?.tally ?? 0)
      assert.deepEqual(
        tallies.toSorted((a, b) => a - b),
        Array.from({ length: 60 }, (_, index) => index + 1),
      )
      assert.equal((await pools[0]?.get('a'))?.next.tally, 60)
    },
  },
  {
    title: '[W2] two openings give no turn twice',
    run: async ({ open }) => {
      const pools = [
        await openPool(await open(), { partitions: 1 }),
        await openPool(await open(), { partitions: 1 }),
      ]
      await Promise.all(Array.from({ length: 80 }, async (_, index) => pools[index % 2]?.put(`k${index}`)))
      const runs = (await pools[1]?.take()) ?? []
      assert.equal(new Set(runs.map(({ turn }) => turn)).size, 80)
    },
  },
  {
    title: '[W2] each tick is moved once by two openings, and offsets have no gap',
    run: async ({ open, clock }) => {
      const ticks = [await openTicks(await open()), await openTicks(await open())] as const
      for (let round = 0; round < 5; round += 1) {
        const puts = Array.from({ length: 40 }, (_, index) => {
          return ticks[index % 2 === 0 ? 0 : 1].pool.put(`k${round}/${index}`, { at: START + round })
        })
        const moves = ticks.map(({ move }) => move(30))
        await Promise.all([...puts, ...moves])
        await clock.leap(1)
      }
      await Promise.all(ticks.map(({ move }) => move()))
      const events = await ticks[0].topic.readAll()
      assert.equal(events.length, 200)
      assert.equal(new Set(events.map(({ id }) => id)).size, 200)
      for (const partition of [0, 1]) {
        const offsets = (await ticks[1].topic.read(partition)).map(({ offset }) => offset)
        assert.deepEqual(offsets, [...offsets.keys()])
      }
    },
  },
  {
    title: '[W2] appends through two openings share one row of offsets, and repeats are known to both',
    run: async ({ open }) => {
      const stores = [await open(), await open()] as const
      const topics = [await openTopic(stores[0]), await openTopic(stores[1])] as const
      const appends = Array.from({ length: 40 }, (_, index) => {
        return topics[index % 2 === 0 ? 0 : 1].appendAll([asEvent(`e${index}`, 0), asEvent(`f${index}`, 0)])
      })
      await Promise.all(appends)
      const offsets = (await topics[1].read(0)).map(({ offset }) => offset)
      assert.deepEqual(offsets, [...Array(80).keys()])
      const pools = [await openPool(stores[0]), await openPool(stores[1])] as const
      await pools[0].request([asPut('a')], REPEAT)
      const repeated = await pools[1].request([asPut('a')], REPEAT)
      assert.ok(repeated.kind === 'answered' && repeated.replayed)
    },
  },
]

export function durableContract(name: string, durable: Durable): void {
  for (const [suite, cases] of [
    ['close and open', reopenCases],
    ['two openings at once', together],
  ] as const) {
    void describe(`${name}: ${suite}`, () => {
      for (const { title, run } of cases) void test(title, () => visit(durable, run))
    })
  }
}

async function visit(durable: Durable, run: DurableCase['run']): Promise<void> {
  const clock = new VirtualClock()
  const place = await durable.create()
  const opened: Store[] = []
  const open = async (): Promise<Store> => {
    const store = await durable.open(place, clock)
    opened.push(store)
    return store
  }
  try {
    await run({ clock, open })
  } finally {
    for (const store of opened) await store.close()
    await durable.remove(place)
  }
}
