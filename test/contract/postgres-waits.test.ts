// What a statement that had to wait for a row says and writes: by the time and the state under its lock.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { asPut, openPool } from '../../src/testing/pool-driver.ts'
import { RESOURCE, change, decision, held, known, openTwo } from '../../src/testing/roster-driver.ts'
import { openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, open, holding } = await openHouse()

const SLEEPERS = "pg_stat_activity where wait_event = 'PgSleep'"

/** Keeps the rows of a table locked for a while, or until they are released; resolves when they are, to the end of it. */
async function lock(table: string, seconds: number): Promise<{ ended: Promise<unknown> }> {
  const statements = `begin; select from ${table} for update; select pg_sleep(${seconds}); commit`
  const ended = server.run(statements).catch((error: unknown) => assert.match(String(error), /user request/))
  const isHeld = async (): Promise<boolean> => (await server.run(`select from ${SLEEPERS}`)).length > 0
  await until('the rows are locked', isHeld)
  return { ended }
}

async function release(): Promise<void> {
  await server.run(`select pg_cancel_backend(pid) from ${SLEEPERS}`)
}

void describe('postgres: waits', { skip }, () => {
  void test('[C1] what fell due while a cancel waited was due', async () => {
    const schema = newSchema()
    const pool = await openPool(await open(schema))
    const at = systemClock.now() + 1500
    await pool.put('a', { at })
    const { ended } = await lock(`${schema}.entry`, 2)
    assert.ok(systemClock.now() < at)
    assert.deepEqual(await pool.cancel('a'), { cancelled: 0, due: 1 })
    await ended
  })

  void test('[C2] a reschedule onto a slot that is put meanwhile changes nothing', async () => {
    const schema = newSchema()
    const pool = await openPool(await open(schema), { mode: 'each', partitions: 1 })
    const at = systemClock.now() + 600_000
    await pool.put('a', { at, payload: '1' })
    const columns =
      'pool, key, turn, due_at, enqueued_at, put_at, tally, attempt, note, key_hash, partition, lane, failing, state'
    await using other = await holding(
      `insert into ${schema}.entry (slot, ${columns}) select slot + 1, ${columns} from ${schema}.entry`,
    )
    const moving = pool.reschedule('a', at, at + 1)
    const waits = 'select from pg_locks where not granted'
    await until('it waits', async () => (await server.run(waits)).length > 0)
    await other.letGo()
    assert.deepEqual(await moving, { kind: 'exists' })
    assert.equal((await pool.get('a', at)).next.payload, '1')
  })

  void test('[G2] a beat that had to wait is as late as its lock', async () => {
    const schema = newSchema()
    const store = await open(schema)
    await openTwo(store)
    const { ended } = await lock(`${schema}.member`, 0.6)
    const { now: sentAt } = await store.roster.view()
    await known(store, 'b')
    const { members } = await store.roster.view()
    assert.ok((members.find(({ id }) => id === 'b')?.heartbeatAt ?? 0) >= sentAt + 200)
    await ended
  })

  void test('[G3] to leave locks the member before its allotments, as declaring it dead does', async () => {
    const schema = newSchema()
    const store = await open(schema)
    await openTwo(store)
    await store.roster.decide(decision({ changes: [change(0, null, held('b', 1))] }))
    const { ended } = await lock(`${schema}.allotment`, 30)
    const leaving = store.roster.leave('b', [
      { resource: RESOURCE.name, partition: 0, epoch: 1, next: null, to: 'a' },
    ])
    await until(
      'it waits',
      async () =>
        (await server.run("select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0,
    )
    const free = await server.run(`select id from ${schema}.member order by id for update skip locked`)
    assert.deepEqual(free, [{ id: 'a' }])
    await release()
    await Promise.all([leaving, ended])
  })

  void test('[R1] a request made again as the first is forgotten is put whole, though a round was known longer', async () => {
    const schema = newSchema()
    const pool = await openPool(await open(schema))
    const puts = ['a', 'a'].map((key) => asPut(key, { at: systemClock.now() + 600_000 }))
    const repeat = { id: 'r', fingerprint: 'f', keepMs: 1 }
    await pool.request(puts, repeat)
    await server.run(`update ${schema}.request set until = case round when 0 then 0 else until + 60000 end`)
    const again = await pool.request(puts, repeat)
    assert.ok(again.kind === 'answered' && !again.replayed)
    assert.deepEqual([again.answers.map(({ tally }) => tally), (await pool.get('a')).next.tally], [[3, 4], 4])
  })

  void test('[S6] what a handler threw may hold a NUL', async () => {
    const store = await open(newSchema())
    const pool = await openPool(store)
    await pool.put('a')
    const dead = { kind: 'dead', reason: 'failed', error: 'a\0b' } as const
    assert.equal((await pool.settle(await pool.takeOne(), dead)).result, 'settled')
    assert.equal((await store.pool.browse.deaths('work', 1))[0]?.error, 'a\uFFFDb')
  })

  void test('[N1] a new holder has a new token, also when the clock is set back as it takes the lock', async () => {
    const schema = newSchema()
    const store = await open(schema)
    await server.run(`
      insert into ${schema}.named_lock values ('l', 'a', 5, 900);
      create sequence ${schema}.reading;
      create or replace function ${schema}.now_ms() returns bigint language sql volatile as
        $$ select 902 - nextval('${schema}.reading') $$`)
    assert.equal((await store.locks.acquire({ name: 'l', holder: 'b', ttlMs: 1000 }))?.token, 6)
  })
})
