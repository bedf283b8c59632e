// What holds when several processes write at once, or one of them stands still in the middle of it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HeadraceError } from '../../src/errors.ts'
import { poolResource } from '../../src/fence.ts'
import type { TakenRun } from '../../src/pool/entry.ts'
import type { Settlement } from '../../src/pool/settle.ts'
import type { Store } from '../../src/store.ts'
import { asEvent } from '../../src/testing/log-driver.ts'
import { type PoolDriver, asPut, openPool } from '../../src/testing/pool-driver.ts'
import { asMember, known } from '../../src/testing/roster-driver.ts'
import { openTicks } from '../../src/testing/ticks-driver.ts'
import { openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, newProxy, open, holding } = await openHouse()

/** What waits for a lock gives up after 900 ms; a machine that is busy with others may need longer for a race. */
const TRIES = 3

/** A call that should wait for a lock came back: on a busy machine another may have given up just before. */
class EndedEarly extends Error {}

/** Runs a race again, from its beginning, in which a call gave up or ended too early. */
function patient(race: () => Promise<void>): () => Promise<void> {
  return async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await race()
      } catch (error) {
        const isRetried = error instanceof HeadraceError || error instanceof EndedEarly
        if (!isRetried || tries === TRIES) throw error
      }
    }
  }
}

/** The statements that have waited so long for a lock, by the server's clock, each once for every time that it was begun. */
async function waiting(forMs = 0): Promise<string[]> {
  const rows = await server.run(
    `select concat(pid, ' ', query_start) as began from pg_locks join pg_stat_activity using (pid)
     where not granted and waitstart <= clock_timestamp() - ${forMs} * interval '1 ms'`,
  )
  return rows.map(({ began }) => String(began))
}

/** Waits until all these calls wait for a lock, for so long; throws when one fails or ends. */
async function untilWaiting(calls: readonly Promise<unknown>[], forMs = 0): Promise<void> {
  const failures: unknown[] = []
  const ended = (answer: unknown): void =>
    void failures.push(new EndedEarly(`a call ended before it had to wait: ${String(answer)}`))
  for (const call of calls) call.then(ended, (error: unknown) => failures.push(error))
  const areWaiting = async (): Promise<boolean> =>
    failures.length > 0 || (await waiting(forMs)).length === calls.length
  await until(`${calls.length} wait`, areWaiting)
  if (failures.length > 0) throw failures[0]
}

/** What a call fails with that waits for a lock in vain. */
async function refusal(call: Promise<unknown>): Promise<void> {
  const failure = await call.then(
    () => null,
    (error: unknown) => error,
  )
  // Its own time was over, of 1 s, before the server could answer.
  if (failure instanceof HeadraceError && failure.code === 'store_failed') throw failure
  assert.ok(failure instanceof HeadraceError)
  assert.deepEqual([failure.code, failure.retryable], ['store_busy', true])
}

void describe('postgres: races', { skip }, () => {
  void test(
    '[Y2] a row that stays locked fails a raise in time, and nothing is changed',
    patient(async () => {
      const schema = newSchema()
      const store = await open(schema)
      await store.fences.raise('r', { owner: 'a', held: [{ partition: 0, epoch: 1 }] })
      await using fence = await holding(`select from ${schema}.fence for share`)
      await refusal(store.fences.raise('r', { owner: 'b', held: [{ partition: 0, epoch: 2 }] }))
      await until('nothing waits', async () => (await waiting()).length === 0)
      await fence.letGo()
      assert.equal((await store.fences.fences('r'))[0]?.owner, 'a')
    }),
  )

  void test(
    '[F4] a raise waits for a settle of an earlier claim that is under way',
    patient(async () => {
      const schema = newSchema()
      const store = await open(schema)
      const pool = await openPool(store, { partitions: 1 })
      await pool.put('a')
      const run = await pool.takeOne()
      await using entry = await holding(`select from ${schema}.entry for update`)
      const settle = pool.settle(run, { kind: 'done' })
      await untilWaiting([settle])
      const next = { owner: 'b', held: [{ partition: 0, epoch: 2 }] }
      const raise = store.fences.raise(poolResource('work'), next)
      await untilWaiting([settle, raise])
      await entry.letGo()
      assert.equal((await settle).result, 'settled')
      assert.equal((await raise)[0]?.raised, true)
    }),
  )

  void test(
    '[Y15] beside an entry that another holds the others are settled at once, and that one after it',
    patient(async () => {
      const schema = newSchema()
      const pool = await openPool(await open(schema), { partitions: 1 })
      await pool.putAll(['a', 'b', 'c', 'd'].map((key) => asPut(key)))
      const runs = await pool.take()
      await using entry = await holding(`select from ${schema}.entry where key = 'b' for update`)
      const settle = pool.settleAll(runs.map((run) => asDone(run)))
      // What waits so long is the settle of that one alone: the others waited for nothing.
      await untilWaiting([settle], 200)
      assert.deepEqual(
        (await pool.list()).map(({ key }) => key),
        ['b'],
      )
      await entry.letGo()
      assert.deepEqual(new Set((await settle).map(({ result }) => result)), new Set(['settled']))
      assert.deepEqual(await pool.list(), [])
    }),
  )

  for (const passesOver of [false, true]) {
    const how = passesOver ? 'passes over what is locked' : 'deletes at once'
    void test(
      `[P4] a settle that ${how} takes only what is as it was taken, though it began before others changed it`,
      patient(() => changeDuringSettle(passesOver)),
    )
  }

  void test(
    '[Y15] a fence that stays locked fails a settle once, and is not taken for an entry that is',
    patient(async () => {
      const schema = newSchema()
      const pool = await openPool(await open(schema), { partitions: 1 })
      await pool.put('a')
      const run = await pool.takeOne()
      await using fence = await holding(`select from ${schema}.fence for update`)
      const begun = new Set<string>()
      // Between two looks it may have waited, and given up.
      for (let tries = 0; begun.size === 0 && tries < TRIES; tries += 1) {
        let isOver = false
        const settle = refusal(pool.settle(run, { kind: 'done' })).finally(() => (isOver = true))
        settle.catch(() => undefined)
        await until('it has given up', async () => {
          for (const began of await waiting()) begun.add(began)
          return isOver
        })
        await settle
      }
      assert.equal(begun.size, 1)
      await fence.letGo()
      assert.equal((await pool.settle(run, { kind: 'done' })).result, 'settled')
    }),
  )

  void test('[Y8] a member that stands still after it sent a change holds no lock', async () => {
    const proxy = await newProxy()
    const schema = newSchema()
    const [stuck, other] = [await open(schema, proxy), await open(schema)]
    const { pool, move } = await openTicks(stuck)
    await openTicks(other)
    await pool.put('a')
    // Connections enough for all of them: what a new one needs first would be held, too.
    await Promise.all([1, 2, 3, 4].flatMap(() => [pool.count(), stuck.fences.fences('r')]))
    const letGo = proxy.hold('answers')
    const unanswered = [
      move(),
      stuck.fences.raise(poolResource('ticks'), pool.claim),
      stuck.roster.decide({ leader: 'a', term: 1, leaseMs: 1, gapMs: 1, dead: [], changes: [] }),
    ].map((call) => call.catch((error: unknown) => error))
    const next = { owner: 'b', held: [{ partition: 0, epoch: 2 }] }
    await until('the move was made', async () =>
      (await other.log.topic('ticked')).bounds.some(({ head }) => head > 0),
    )
    assert.equal((await other.fences.raise(poolResource('ticks'), next))[0]?.raised, true)
    assert.equal(await other.roster.stepDown('nobody'), false)
    const locks = await server.run(
      "select from pg_locks where mode = 'RowExclusiveLock' and not pid = pg_backend_pid()",
    )
    assert.deepEqual(locks, [])
    await Promise.all(unanswered)
    letGo()
  })

  void test('[K1] of the beats of six processes at once one takes the lease, and all name it', async () => {
    const schema = newSchema()
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const stores = await Promise.all(ids.map(() => open(schema)))
    await Promise.all(stores.map((store, nth) => store.roster.join(asMember(ids[nth] as string), [])))
    for (let term = 1; term <= 20; term += 1) {
      const beats = stores.map((store, nth) => known(store, ids[nth] as string))
      const leaders = (await Promise.all(beats)).map(({ leader }) => leader)
      const names = new Set(leaders.map((leader) => `${leader?.member} ${leader?.term}`))
      assert.deepEqual([names.size, leaders[0]?.term], [1, term])
      assert.equal(await stores[0]?.roster.stepDown(leaders[0]?.member ?? ''), true)
    }
  })

  void test('[K6] of the beats of six processes at once, as the clock is set back, none fails, and the leader stays', async () => {
    const schema = newSchema()
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const stores = await Promise.all(ids.map(() => open(schema)))
    for (const id of [...ids, 'dead']) await stores[0]?.roster.join(asMember(id), [])
    await Promise.all(stores.map((store, nth) => known(store, ids[nth] as string)))
    for (let hours = 1; hours <= 20; hours += 1) {
      await server.run(`
        create or replace function ${schema}.now_ms() returns bigint language sql volatile as
          $$ select (extract(epoch from clock_timestamp()) * 1000)::bigint - ${hours} * 3600000 $$`)
      // Each waits for the version, too.
      const refused = [{ resource: 'r', partition: 0, epoch: hours }]
      const beats = stores.map((store, nth) => known(store, ids[nth] as string, { refused }))
      const terms = (await Promise.all(beats)).map(({ leader }) => leader?.term)
      assert.deepEqual(new Set(terms), new Set([1]))
      const view = await stores[0]?.roster.view()
      assert.deepEqual(
        view?.members.filter(({ heartbeatAt }) => heartbeatAt > view.now),
        [],
      )
    }
  })

  void test('[L2] appends and moves of four processes at once leave no gap and give no offset twice', async () => {
    const schema = newSchema()
    const stores = await Promise.all([1, 2, 3, 4].map(() => open(schema)))
    const ticks = await Promise.all(stores.map((store) => openTicks(store)))
    await ticks[0]?.pool.putAll(Array.from({ length: 300 }, (_, nth) => asPut(`k${nth}`)))
    const append = async (store: Store, nth: number): Promise<void> => {
      for (let round = 0; round < 25; round += 1) {
        const events = [asEvent(`${nth}/${round}`, round % 2), asEvent(`${nth}/${round}b`, (round + 1) % 2)]
        await store.log.append('ticked', events)
      }
    }
    const moves = ticks.map(async ({ move }) => (await move(100)).count + (await move(100)).count)
    await Promise.all([...stores.map(append), ...moves])
    while ((await ticks[0]?.move(100))?.count !== 0);
    const events = (await ticks[1]?.topic.readAll()) ?? []
    assert.deepEqual([events.length, new Set(events.map(({ id }) => id)).size], [500, 500])
    for (const partition of [0, 1]) {
      const offsets = events.filter((event) => event.partition === partition).map(({ offset }) => offset)
      assert.deepEqual(offsets, [...offsets.keys()])
    }
  })
})

function asDone({ key, slot, turn, seen }: TakenRun): Settlement {
  return { key, slot, turn, seen, outcome: { kind: 'done' } }
}

/** A settle waits for its fence, and meanwhile others change most of what it settles. */
async function changeDuringSettle(passesOver: boolean): Promise<void> {
  const schema = newSchema()
  const pool = await openPool(await open(schema), { partitions: 1 })
  if (passesOver) await meetLocked(schema, pool)
  const [row] = await server.run(`select ${schema}.now_ms() as now`)
  const later = { at: Number(row?.['now']) + 60_000, onConflict: 'replace' } as const
  const keys = ['same', 'put', 'after', 'marked', 'cancelled', 'anew', 'replaced']
  await pool.putAll(keys.map((key) => asPut(key)))
  await pool.put('replaced', later)
  const runs = await pool.take()
  await using fence = await holding(`select from ${schema}.fence for update`)
  const settle = pool.settleAll(runs.map((run) => asDone(run)))
  await untilWaiting([settle])
  await pool.putAll([asPut('put'), asPut('after', later), asPut('replaced', { ...later, payload: '2' })])
  await Promise.all([pool.cancel('cancelled'), pool.cancel('anew')])
  await pool.put('anew', { payload: '3' })
  await fence.run(`update ${schema}.entry set crashes = 1 where key = 'marked'`)
  await fence.letGo()
  const gone = ['cancelled', 'anew']
  assert.deepEqual(
    (await settle).map(({ result }, nth) => [runs[nth]?.key, result]),
    runs.map(({ key }) => [key, gone.includes(key) ? 'gone' : 'settled']),
  )
  const left = (await pool.list()).map(({ key, next }) => [key, next.tally, next.payload])
  const expected = [
    ['after', 1, null],
    ['anew', 1, '3'],
    ['put', 1, null],
    ['replaced', 1, '2'],
  ]
  const byKey = ([a]: unknown[], [b]: unknown[]): number => (String(a) < String(b) ? -1 : 1)
  assert.deepEqual(left.toSorted(byKey), expected)
}

/** Settles beside an entry that is locked: the next settles of the pool pass over such. */
async function meetLocked(schema: string, pool: PoolDriver): Promise<void> {
  await pool.putAll([asPut('x'), asPut('y')])
  const runs = await pool.take()
  await using entry = await holding(`select from ${schema}.entry where key = 'x' for update`)
  const settle = pool.settleAll(runs.map((run) => asDone(run)))
  await untilWaiting([settle], 50)
  await entry.letGo()
  await settle
}
