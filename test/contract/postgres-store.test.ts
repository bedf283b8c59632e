// The rules of the PostgreSQL store alone: docs/spec/postgres.md.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Hint } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { latestVersion } from '../../src/stores/postgres/queries.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { asEvent } from '../../src/testing/log-driver.ts'
import { asPut, openPool } from '../../src/testing/pool-driver.ts'
import { openTicks } from '../../src/testing/ticks-driver.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { postgresPlaces } from './open-postgres.ts'
import { openHouse, until } from './postgres-house.ts'

const house = await openHouse()
const { server, skip, newSchema, newProxy, open } = house

void describe('postgres: cuts and restarts', { skip }, () => {
  void test('[Y1] puts and appends whose answers are lost are made again, and count once', async () => {
    const proxy = await newProxy()
    const schema = newSchema()
    const store = await open(schema, proxy)
    const pool = await openPool(store)
    await store.log.open({ name: 'events', partitions: 2, retentionMs: null })
    const at = systemClock.now() + 600_000
    for (let nth = 1; nth <= 25; nth += 1) {
      // The name of its statement, whose text is sent once a connection.
      const cut = proxy.cutAnswerTo('\0put/')
      assert.equal((await pool.put('a', { at })).tally, nth)
      await cut
      const cutAppend = proxy.cutAnswerTo(`insert into "${schema}".event`)
      const [appended] = await store.log.append('events', [asEvent(`e${nth}`, 1)])
      await cutAppend
      assert.equal(appended?.offset, nth - 1)
    }
    assert.equal((await pool.get('a')).next.tally, 25)
  })

  void test('[Y1] a request of many puts, a key twice among them, is exact when its commit is cut', async () => {
    const proxy = await newProxy()
    const store = await open(newSchema(), proxy)
    const pool = await openPool(store)
    const at = systemClock.now() + 600_000
    const puts = ['a', 'b', 'a', 'a'].map((key) => asPut(key, { at }))
    for (const round of [0, 1, 2]) {
      const cut = proxy.cutAnswerTo('COMMIT')
      const tallies = (await pool.putAll(puts)).map(({ tally }) => tally)
      await cut
      assert.deepEqual(tallies, [round * 3 + 1, round + 1, round * 3 + 2, round * 3 + 3])
    }
    const repeat = { id: 'r', fingerprint: 'f', keepMs: 60_000 }
    const cut = proxy.cutAnswerTo('user/r')
    const first = await pool.request([asPut('c', { at })], repeat)
    await cut
    assert.ok(first.kind === 'answered' && !first.replayed)
    const second = await pool.request([asPut('c', { at })], repeat)
    assert.ok(second.kind === 'answered' && second.replayed)
  })

  void test('[Y2] a call that is not answered fails in time, and the next one succeeds', async () => {
    const proxy = await newProxy()
    const store = await open(newSchema(), proxy)
    const claim = { owner: 'a', held: [{ partition: 0, epoch: 1 }] }
    await store.fences.raise('r', claim)
    const letGo = proxy.hold()
    const began = performance.now()
    await assert.rejects(store.fences.raise('r', claim), { code: 'store_failed', retryable: true })
    assert.ok(performance.now() - began < 2000)
    letGo()
    const raised = { partition: 0, raised: true, epoch: 1, suspects: 0 }
    assert.deepEqual(await store.fences.raise('r', claim), [raised])
  })

  void test('[Y4] a restart of the server is survived, by calls under way and by later ones', async () => {
    const store = await open(newSchema())
    const pool = await openPool(store)
    await pool.put('a')
    await server.stop()
    const put = pool.put('b')
    await server.start()
    assert.equal((await put).result, 'created')
    assert.equal((await pool.list()).length, 2)
    await store.pulse({ beat: null, pools: [] })
  })

  void test('[Y4] a server that is not there is named, with a remedy and without the password', async () => {
    const context = { clock: systemClock, telemetry: createTelemetry('test'), faults: noFaults }
    const failure = await openStore('postgres://me:secret@127.0.0.1:1/db', context).catch(
      (error: unknown) => error,
    )
    assert.ok(failure instanceof Error && 'remedy' in failure)
    assert.match(failure.message, /^postgres:\/\/me@127.0.0.1:1\/db: the server cannot be reached/)
    assert.match(String(failure.remedy), /check that PostgreSQL runs/)
    assert.doesNotMatch(JSON.stringify([failure.message, failure.remedy]), /secret/)
  })
})

void describe('postgres: schema', { skip }, () => {
  void test('[Y3] many that open a new schema at once all succeed', async () => {
    const schema = newSchema()
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(schema)))
    for (const store of stores) await openPool(store)
    const versions = await server.run(`select version from ${schema}.schema_version`)
    assert.deepEqual(
      versions.map(({ version }) => version),
      Array.from({ length: latestVersion() }, (_, nth) => nth + 1),
    )
  })

  void test('[Y3] a newer schema, and that of another application, are refused and not touched', async () => {
    const newer = newSchema()
    await open(newer)
    await server.run(`insert into ${newer}.schema_version (version) values (99)`)
    await assert.rejects(open(newer), { code: 'store_newer' })
    const foreign = newSchema()
    await server.run(`create schema ${foreign}; create table ${foreign}.mine (id integer)`)
    await assert.rejects(open(foreign), { code: 'store_failed', remedy: /schema=NAME/ })
    const tables = await server.run('select tablename from pg_tables where schemaname = $1', [foreign])
    assert.deepEqual(tables, [{ tablename: 'mine' }])
  })
})

void describe('postgres: hints and housekeeping', { skip }, () => {
  const listening = (schema: string): Promise<Record<string, unknown>[]> =>
    server.run('select pid from pg_stat_activity where query = $1', [`listen "${schema}"`])

  void test('[Y5] a direct connection hears the hints of another process', async () => {
    const schema = newSchema()
    const [here, there] = [await open(schema), await open(schema)]
    const heard: Hint[] = []
    there.watch((hint) => heard.push(hint))
    const pool = await openPool(here)
    const at = systemClock.now() + 600_000
    await pool.put('a', { at })
    await here.log.open({ name: 'events', partitions: 1, retentionMs: null })
    await here.log.append('events', [asEvent('e', 0)])
    await here.roster.drain('nobody', true)
    const kinds = (): string[] =>
      heard.map((hint) => (hint.kind === 'put' ? `put ${hint.pool} ${hint.dueAt}` : hint.kind))
    await until('hints are heard', () => kinds().includes(`put work ${at}`) && kinds().includes('appended'))
    assert.equal((await listening(schema)).length, 2)
    const [ear] = await listening(schema)
    await server.run('select pg_terminate_backend($1)', [ear?.['pid']])
    await until('it listens again', async () => (await listening(schema)).length === 2)
  })

  void test('[Y7] a pulse is one statement, and housekeeping adds few', async () => {
    const telemetry = createTelemetry('idle')
    const store = await open(newSchema(), undefined, telemetry)
    const pools = []
    for (let nth = 0; nth < 20; nth += 1) {
      const { settings } = await openPool(store, { name: `pool-${nth}`, partitions: 32 })
      pools.push({ pool: settings.name, partitions: Array.from({ length: 32 }, (_, partition) => partition) })
    }
    // The first one reads each pool from its beginning.
    await store.pulse({ beat: null, pools })
    let calls = 0
    telemetry.on('store.called', () => (calls += 1))
    for (let nth = 0; nth < 20; nth += 1) await store.pulse({ beat: null, pools })
    assert.ok(calls >= 20 && calls <= 25, `${calls} calls`)
  })

  void test('[Y7] requests and fired slots whose time is over are forgotten', async () => {
    const places = postgresPlaces(server)
    house.closeAfter(places)
    const [clock, place] = [new VirtualClock(), await places.create()]
    const store = await places.open(place, clock)
    house.closeAfter(store)
    const { pool, move } = await openTicks(store, { rememberMs: 1000 })
    await pool.put('a', { at: clock.now() })
    await move()
    const left = async (): Promise<unknown> =>
      (
        await server.run(`select (select count(*)::int from ${place}.entry) as entries,
        (select count(*)::int from ${place}.request) as requests, (select count(*)::int from ${place}.answer) as answers`)
      )[0]
    assert.deepEqual(await left(), { entries: 1, requests: 1, answers: 1 })
    await clock.leap(700_000)
    await until('they are forgotten', async () => {
      await store.pulse({ beat: null, pools: [] })
      return JSON.stringify(await left()) === '{"entries":0,"requests":0,"answers":0}'
    })
  })
})
