// From where moves and pulses read, and what bounds them: what commits late is found, and what is gone costs nothing.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { HeadraceError } from '../../src/errors.ts'
import { MANY, asPut, openPool } from '../../src/testing/pool-driver.ts'
import { openTicks } from '../../src/testing/ticks-driver.ts'
import { openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, open, holding } = await openHouse()

/** Runs a transaction that ends after a while; resolves when it has done its work, to its end. */
async function during(statement: string, seconds: number): Promise<{ ended: Promise<unknown> }> {
  const name = `during ${(transactions += 1)}`
  const text = `set application_name = '${name}'; begin; ${statement}; select pg_sleep(${seconds}); commit`
  const ended = server.run(text)
  const asks = `select from pg_stat_activity where application_name = '${name}' and wait_event = 'PgSleep'`
  await until('the work is done', async () => (await server.run(asks)).length > 0)
  return { ended }
}
let transactions = 0

/** What the store's clock says. */
async function timeOf(schema: string): Promise<number> {
  return Number((await server.run(`select ${schema}.now_ms() as now`))[0]?.['now'])
}

/** How many entries of the index of due times were read so far, dead ones among them. */
async function indexReads(schema: string): Promise<number> {
  await server.run('select pg_stat_clear_snapshot()')
  const [row] = await server.run(
    `select idx_tup_read::integer as reads from pg_stat_user_indexes where indexrelname = 'entry_due' and schemaname = '${schema}'`,
  )
  return row?.['reads'] as number
}

void describe('postgres: watermarks', { skip }, () => {
  void test('[Y10] neither a move nor a pulse walks over what has moved, though a snapshot still sees it', async () => {
    const schema = newSchema()
    const store = await open(schema)
    const { pool, move } = await openTicks(store)
    const asked = [
      { pool: pool.settings.name, partitions: pool.claim.held.map(({ partition }) => partition) },
    ]
    const pulse = async (): Promise<void> => void (await store.pulse({ beat: null, pools: asked }))
    await pool.putAll(Array.from({ length: 5000 }, (_, nth) => asPut(`old-${nth}`)))
    await using snapshot = await holding(
      `set transaction isolation level repeatable read; select count(*) from ${schema}.entry`,
    )
    assert.equal((await move(10_000)).count, 5000)
    await server.run(`
      create or replace function ${schema}.now_ms() returns bigint language sql volatile as
        $$ select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint + 60000 $$`)
    // A connection tells its counters with a later statement, a second after the last time.
    const flush = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await Promise.all([pulse(), pulse(), move(), move(), move()])
        await systemClock.sleep(1100)
      }
    }
    await flush()
    const before = await indexReads(schema)
    await pool.put('new')
    assert.equal((await move()).count, 1)
    await flush()
    const reads = (await indexReads(schema)) - before
    assert.ok(reads > 0 && reads < 500, `${reads} entries of the index were read`)
    await snapshot.letGo()
  })

  void test('[Y10] an entry that commits behind the moves is seen by the next pulse, and moves', async () => {
    const schema = newSchema()
    const store = await open(schema)
    const { pool, move } = await openTicks(store)
    const pools = [
      { pool: pool.settings.name, partitions: pool.claim.held.map(({ partition }) => partition) },
    ]
    await pool.put('late', { at: systemClock.now() + 3_600_000 })
    await move()
    await store.pulse({ beat: null, pools })
    await using late = await holding(`update ${schema}.entry set due_at = ${schema}.now_ms()`)
    const dueBy = await timeOf(schema)
    await until('it is long due', async () => (await timeOf(schema)) > dueBy + 1500)
    assert.equal((await move()).count, 0)
    await store.pulse({ beat: null, pools })
    await late.letGo()
    assert.equal((await move()).count, 0, 'it is behind the moves')
    const { nextDueAt, now } = await store.pulse({ beat: null, pools })
    assert.ok((nextDueAt.get(pool.settings.name) ?? Infinity) < now - 1000)
    assert.equal((await move()).count, 1)
  })

  void test('[Y10] a partition that was another’s meanwhile is read from the beginning', async () => {
    const schema = newSchema()
    const store = await open(schema)
    const { pool, move } = await openTicks(store)
    const [first, ...others] = pool.claim.held
    assert.ok(first !== undefined)
    await move()
    await pool.putAll(Array.from({ length: 20 }, (_, nth) => asPut(`k-${nth}`)))
    const rest = await move(MANY, { ...pool.claim, held: others })
    await systemClock.sleep(400)
    await move(MANY, { ...pool.claim, held: others })
    assert.equal(rest.count + (await move()).count, 20)
  })

  void test('[Y11] a put that took too long is undone, also when each of its waits was short', async () => {
    const schema = newSchema()
    const pool = await openPool(await open(schema))
    const at = systemClock.now() + 3_600_000
    for (const key of ['a', 'b']) await pool.put(key, { at })
    const locks = [
      await during(`select from ${schema}.entry where key = 'a' for update`, 3),
      await during(`select from ${schema}.entry where key = 'b' for update`, 6),
    ]
    const putting = pool.putAll(['a', 'b', 'c'].map((key) => asPut(key, { at })))
    await assert.rejects(putting, (error) => error instanceof HeadraceError && error.retryable)
    await Promise.all(locks.map(({ ended }) => ended))
    await until('nothing is under way', async () => {
      const asks = "select from pg_stat_activity where application_name = 'headrace' and state = 'active'"
      return (await server.run(asks)).length === 0
    })
    const tallies = [(await pool.get('a')).next.tally, (await pool.get('b')).next.tally]
    assert.deepEqual(tallies, [1, 1])
    assert.equal((await pool.putAll([asPut('c', { at })]))[0]?.tally, 1)
  })

  void test('[T4] a later tick of an item does not overtake one that another transaction holds', async () => {
    const schema = newSchema()
    const { pool, topic, move } = await openTicks(await open(schema))
    const at = systemClock.now() - 10
    const slots = [at, at + 1, at + 2]
    for (const slot of slots) await pool.put('a', { at: slot })
    await pool.put('b', { at })
    await using held = await holding(`select from ${schema}.entry where slot = ${at + 1} for update`)
    assert.equal((await move()).count, 2)
    await held.letGo()
    for (let moved = 0; moved < 2;) moved += (await move()).count
    const events = [...(await topic.read(0)), ...(await topic.read(1))].filter(({ key }) => key === 'a')
    assert.deepEqual(
      events.map(({ value }) => Date.parse((JSON.parse(value) as { at: string }).at)),
      slots,
    )
  })

  void test('[T4] later ticks of an item that is held do not fill the moves of others', async () => {
    const schema = newSchema()
    const { pool, move } = await openTicks(await open(schema), { partitions: 1 })
    const at = systemClock.now() - 2000
    await pool.putAll(Array.from({ length: 300 }, (_, nth) => asPut('many', { at: at + nth })))
    await pool.putAll(Array.from({ length: 50 }, (_, nth) => asPut(`other-${nth}`)))
    await using held = await holding(`select from ${schema}.entry where slot = ${at} for update`)
    let moved = 0
    for (let moves = 0; moves < 4; moves += 1) moved += (await move(100)).count
    assert.equal(moved, 50)
    await held.letGo()
    while (moved < 350) moved += (await move(100)).count
  })

  for (const overdueMs of [0, 2500]) {
    void test(`[T4] an item that others lock without end moves all the same, ${overdueMs} ms overdue`, async () => {
      const schema = newSchema()
      const { pool, move } = await openTicks(await open(schema), { mode: 'one' })
      await pool.put('hot')
      await systemClock.sleep(overdueMs)
      const locking = `do $$ begin for times in 1..100 loop
        perform from ${schema}.entry for update; perform pg_sleep(0.05); commit; end loop; end $$`
      const locked = [server.run(locking), server.run(locking)]
      const asks = "select from pg_stat_activity where wait_event = 'PgSleep'"
      await until('it is locked', async () => (await server.run(asks)).length > 0)
      const began = systemClock.mono()
      while ((await move()).count === 0) await systemClock.sleep(5)
      const tookMs = systemClock.mono() - began
      assert.ok(tookMs < 5000, `it took ${tookMs} ms`)
      await Promise.all(locked)
    })
  }
})
