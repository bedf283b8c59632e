// What outlives strangers on the channel, connections that stand still, and rows that others hold.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Clock, systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { PulseLoop } from '../../src/pulse.ts'
import { timingOf } from '../../src/roster/settings.ts'
import type { Hint } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { openPool } from '../../src/testing/pool-driver.ts'
import { LEASE_MS, asMember, known } from '../../src/testing/roster-driver.ts'
import { openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, newProxy, open, closeAfter } = await openHouse()

/** Timers of ten seconds fire after a tenth of one. */
const hasten: Clock['timer'] = (delayMs, call, options) =>
  systemClock.timer(delayMs < 10_000 ? delayMs : 100, call, options)

void describe('postgres: strangers', { skip }, () => {
  void test('[Y5] a notification that is no hint is passed over, and hints are heard after it', async () => {
    const schema = newSchema()
    const [here, there] = [await open(schema), await open(schema)]
    const heard: Hint[] = []
    there.watch((hint) => heard.push(hint))
    for (const text of ['x', 'null', '{"puts":[5]}'])
      await server.run('select pg_notify($1, $2)', [schema, text])
    await (await openPool(here)).put('a', { at: systemClock.now() + 600_000 })
    await until('the hint is heard', () => heard.some(({ kind }) => kind === 'put'))
  })
})

void describe('postgres: schemas of others', { skip }, () => {
  void test('[Y3] a schema of another application that has a schema_version, too, is refused', async () => {
    const schema = newSchema()
    await server.run(`create schema ${schema}; create table ${schema}.schema_version as select 1 as version`)
    await assert.rejects(open(schema), { code: 'store_failed', remedy: /schema=NAME/ })
  })
})

void describe('postgres: connections that stand still', { skip }, () => {
  void test('[Y12] the one that hears hints is given up, and after another was made everything is looked at', async () => {
    const schema = newSchema()
    const clock = { ...systemClock, timer: hasten }
    const context = { clock, telemetry: createTelemetry('deaf'), faults: noFaults }
    const deaf = await openStore(server.url({ schema }), context)
    closeAfter(deaf)
    const heard: Hint[] = []
    deaf.watch((hint) => heard.push(hint))
    const [ear] = await server.run('select pid from pg_stat_activity where query = $1', [
      `listen "${schema}"`,
    ])
    const pid = ear?.['pid'] as number
    process.kill(pid, 'SIGSTOP')
    try {
      await until('it listens again', () => heard.some(({ kind }) => kind === 'foreign'))
      await (await openPool(await open(schema))).put('a', { at: systemClock.now() + 600_000 })
      await until('a hint is heard', () => heard.some(({ kind }) => kind === 'put'))
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  })

  void test('[Y8] one that stands still in a transaction holds its locks for two seconds', async () => {
    const proxy = await newProxy()
    const schema = newSchema()
    const [stuck, other] = [await open(schema, proxy), await open(schema)]
    const at = systemClock.now() + 600_000
    const [pool, others] = [await openPool(stuck), await openPool(other)]
    await pool.put('a', { at })
    const frozen = proxy.freezeAt('order by e.slot')
    const failing = assert.rejects(
      stuck.pool.entries.reschedule('work', { key: 'a', slot: null, at: at + 1 }),
    )
    await frozen
    const began = performance.now()
    assert.equal((await others.put('a', { at })).tally, 2)
    assert.ok(performance.now() - began < 4000)
    await failing
  })

  void test('[Y2] when both connections of the pulses stand still the third pulse is answered within the trust', async () => {
    const proxy = await newProxy()
    const store = await open(newSchema(), proxy)
    await store.roster.join(asMember('a'), [])
    await Promise.all([known(store, 'a'), known(store, 'a')])
    const { leaseMs, pulseMs: everyMs, pulseWithinMs: withinMs, trustMs } = timingOf(LEASE_MS)
    const beat = { member: 'a', leaseMs, leads: true, health: {}, holding: {}, refused: [] }
    const sends: number[] = []
    const pulses = new PulseLoop({
      store,
      clock: systemClock,
      telemetry: createTelemetry('pulses'),
      everyMs,
      withinMs,
      request: () => ({ beat, pools: [] }),
      isStuck: () => false,
      notice: (_, { mono }) => sends.push(mono),
    })
    await pulses.service.start()
    proxy.freeze()
    await until('a pulse is answered', () => sends.length > 1)
    const tookMs = systemClock.mono() - (sends[0] as number)
    await pulses.service.stop()
    assert.ok(tookMs < trustMs)
  })

  for (const text of ['relnamespace', 'max(version)', 'pg_backend_pid']) {
    void test(`[Y2] a store whose server stands still at ${text} opens or fails in time`, async () => {
      const schema = newSchema()
      await open(schema)
      const proxy = await newProxy()
      const frozen = proxy.freezeAt(text)
      const began = performance.now()
      const opening = open(schema, proxy).catch((error: unknown) => error)
      await frozen
      const opened = await opening
      assert.ok(performance.now() - began < 8000)
      assert.ok(!(opened instanceof Error) || opened.message.includes('cannot be reached'))
    })
  }
})
