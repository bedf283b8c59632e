// Arrivals that were written past the library: what cannot be read again stops neither the fold nor what is behind it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { LARGEST_PAYLOAD_BYTES } from '../../src/check.ts'
import { type Headrace, headrace } from '../../src/headrace.ts'
import type { Arrivals } from '../../src/store.ts'
import { asEvent } from '../../src/testing/log-driver.ts'
import { asPut } from '../../src/testing/pool-driver.ts'
import { until } from '../fault/until.ts'
import { openHouse } from './postgres-house.ts'

const { server, skip, newSchema } = await openHouse()

const LARGE = JSON.stringify('x'.repeat(LARGEST_PAYLOAD_BYTES))
const WITHIN_MS = 20_000

/** A member on a schema of its own, and what it reports as refused. */
async function openRace(t: TestContext): Promise<{ race: Headrace; refused: Map<string, number> }> {
  const race = await headrace({ store: server.url({ schema: newSchema() }), partitions: 1, log: 'silent' })
  t.after(() => race.stop())
  const refused = new Map<string, number>()
  race.telemetry.on('arrivals.refused', ({ resource, arrivals }) => {
    refused.set(resource, (refused.get(resource) ?? 0) + arrivals)
  })
  return { race, refused }
}

/** Writes into arrivals by the port of the store, which takes texts as they are, as a statement written by hand does. */
async function arrive(
  race: Headrace,
  write: (arrivals: Arrivals, tx: Client) => Promise<void>,
): Promise<void> {
  const tx = new Client({ connectionString: server.url() })
  await tx.connect()
  await tx.query('begin')
  await write(race.store.arrivals as Arrivals, tx)
  await tx.query('commit')
  await tx.end()
}

test(
  '[U5] a put whose payload is no JSON or too large becomes a record, and all others run',
  { skip },
  async (t) => {
    const { race, refused } = await openRace(t)
    const pool = race.pool('work')
    const ran = new Map<string, unknown>()
    race.work(pool, async ({ key, payload }) => void ran.set(key, payload))
    await race.start()
    const payloads = ['no json', LARGE, '{"a":', '{"a":1}', String.raw`"\ud800"`, '1e400']
    await arrive(race, (arrivals, tx) => {
      return arrivals.put(
        tx,
        'work',
        payloads.map((payload, nth) => asPut(`k${nth}`, { payload })),
      )
    })
    await until('what can be read has run', () => ran.size === 3, WITHIN_MS)
    const expected = new Map<string, unknown>([
      ['k3', { a: 1 }],
      ['k4', '\ud800'],
      ['k5', Infinity],
    ])
    assert.deepEqual(ran, expected)
    const records = await pool.dead.list()
    const found = records.map(({ key, reason, error }) => `${key} ${reason}: ${error?.slice(0, 70)}`)
    assert.deepEqual(
      found.toSorted(),
      [
        'k0 invalid_payload: the payload has 7 bytes and is no JSON of at most 1048576: no json',
        `k1 invalid_payload: the payload has 1048578 bytes and is no JSON of at most 1048576: "xxxx`,
        'k2 invalid_payload: the payload has 5 bytes and is no JSON of at most 1048576: {"a":',
      ].map((line) => line.slice(0, 'k0 invalid_payload: '.length + 70)),
    )
    assert.deepEqual([...refused], [['pool/work', 3]])
  },
)

test(
  '[U5] an event whose value or headers are no JSON is dropped, and those around it follow each other',
  { skip },
  async (t) => {
    const { race, refused } = await openRace(t)
    race.topic('events')
    await race.start()
    const events = [
      asEvent('a', 0),
      { ...asEvent('b', 0), value: '{' },
      { ...asEvent('c', 0), headers: 'none' },
      asEvent('d', 0),
    ]
    await arrive(race, (arrivals, tx) => arrivals.append(tx, 'events', events))
    await until('they were refused', () => refused.get('topic/events') === 2, WITHIN_MS)
    const read = await race.store.log.read('events', {
      from: [{ partition: 0, offset: 0 }],
      limit: 9,
      maxBytes: 999,
    })
    const found = read.events.map(({ id, offset }) => [id, offset])
    assert.deepEqual(found, [
      ['a', 0],
      ['d', 1],
    ])
  },
)

test('[U5] [U6] a put whose payload is no JSON replaces none, and becomes a record', { skip }, async (t) => {
  const { race, refused } = await openRace(t)
  const pool = race.pool('work')
  const ran: unknown[] = []
  race.work(pool, async ({ payload }) => void ran.push(payload))
  await race.start()
  const puts = ['1', 'no json', '2', '{'].map((payload) =>
    asPut('a', { payload, inMs: 100, onConflict: 'replace' }),
  )
  await arrive(race, (arrivals, tx) => arrivals.put(tx, 'work', puts))
  await until('it has run', () => ran.length > 0, WITHIN_MS)
  assert.deepEqual([ran, [...refused]], [[2], [['pool/work', 2]]])
  assert.equal((await pool.dead.list()).length, 2)
})
