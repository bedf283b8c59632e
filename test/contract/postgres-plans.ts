// The plans of the statements that run often, on large tables: what they must name, and what not.
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { openStore } from '../../src/stores/open.ts'
import { Queries } from '../../src/stores/postgres/queries.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import type { PostgresServer } from '../servers/postgres.ts'

const PARTITIONS = 32
const now = systemClock.now()
const list = (values: readonly unknown[]): string => `{${values.join(',')}}`
const some = (count: number, value: (nth: number) => unknown): string =>
  list(Array.from({ length: count }, (_, nth) => value(nth)))
const all = some(PARTITIONS, (nth) => nth)
const froms = some(PARTITIONS, () => now - 10_000)
const epochs = some(PARTITIONS, () => 1)
const claim = [all, epochs, 'pool/large', 'me']
const keys = some(1000, (nth) => `key-${nth}`)
const slots = some(1000, () => Number.MIN_SAFE_INTEGER)
const nothing = some(1000, () => 'NULL')
const from = some(PARTITIONS, () => now - 10_000)
const page = [0, '', 0, 0, now + 1e9, 100]

export interface Planned {
  name: string
  values: unknown[]
  /** What its plan must name. */
  uses: string[]
  /** What it must not, beside scans of whole tables. */
  avoids?: string[]
}

/** The statements that run often, each with parameters as the store sends them. */
export const statements: readonly Planned[] = [
  {
    name: 'put',
    values: [
      1,
      'id',
      0,
      '',
      'id',
      1000,
      false,
      keys,
      some(1000, (nth) => now + nth),
      null,
      null,
      null,
      null,
      some(1000, (nth) => nth),
      null,
      1,
      0,
      PARTITIONS,
      null,
      null,
      null,
      false,
    ],
    uses: ['Conflict Arbiter Indexes: entry_pkey'],
  },
  {
    name: 'repeated_entries',
    values: [1, keys],
    uses: ['entry_pkey'],
  },
  {
    name: 'take',
    values: [1, all, 1, froms, 1000, 62, Number.MIN_SAFE_INTEGER, 8192, null],
    uses: ['Index Scan using entry_due', 'Index Only Scan using entry_due'],
  },
  {
    name: 'take_even',
    values: [1, all, 1, froms, 1000, 23, Number.MIN_SAFE_INTEGER, 8192, 62, null],
    uses: ['Index Scan using entry_due'],
  },
  {
    name: 'take_rows',
    values: [1, all, 1, froms, 1000, 62, true, null],
    uses: ['Index Scan using entry_due'],
  },
  {
    name: 'settle',
    values: [
      1,
      ...claim,
      keys,
      slots,
      some(1000, (nth) => nth),
      some(1000, () => 1),
      some(1000, () => 'done'),
      nothing,
      nothing,
      nothing,
    ],
    uses: ['Index Scan using entry_pkey'],
    // Of entries that are others' it looks for one at a time, not for all of the pool.
    avoids: ['Bitmap Heap Scan on entry'],
  },
  ...['settle_done', 'settle_free'].map((name) => ({
    name,
    values: [1, ...claim, some(1000, (nth) => `"(${nth},1)"`), some(1000, (nth) => nth), some(1000, () => 1)],
    uses: ['Tid Scan on entry'],
    avoids: ['Index Scan using entry'],
  })),
  {
    name: 'move',
    values: [1, ...claim, 2, PARTITIONS, 256, 1000, 'large', false, now - 250, '{}', null, null],
    uses: ['Index Scan using entry_pkey', 'Index Scan using entry_due'],
  },
  { name: 'next_dues', values: [some(PARTITIONS, () => 1), all, from], uses: ['using entry_due'] },
  {
    name: 'beat',
    values: [some(PARTITIONS, () => 1), all, from, 'me', 3000, 3000, true, '{}', '{}', '[]'],
    uses: ['using entry_due'],
  },
  { name: 'fold_puts', values: [1, ...claim, 1000, false, 1_048_576], uses: ['arrival_pkey', 'entry_pkey'] },
  { name: 'fold_events', values: [2, 1000, 1_048_576], uses: ['event_arrival_pkey'] },
  {
    name: 'append',
    values: [2, 'id', 1000, some(1000, () => 1), keys, keys, keys, nothing],
    uses: [],
  },
  { name: 'cancel', values: [1, 'key-1', null], uses: ['entry_pkey'] },
  { name: 'list_live', values: [1, PARTITIONS, ...page, null], uses: ['using entry_due'] },
  { name: 'list_dead', values: [1, PARTITIONS, ...page], uses: ['entry_dead'] },
  { name: 'list_failing', values: [1, PARTITIONS, ...page], uses: ['entry_failing'] },
  { name: 'list_key', values: [1, 'key-1', ...page, null, now, null], uses: ['entry_pkey'] },
  {
    name: 'list_prefix',
    values: [1, 'key-19', ...page, null, now, null, 'key-1:'],
    uses: ['entry_pkey'],
  },
  { name: 'forget_fired', values: [1000], uses: ['entry_fired'] },
  { name: 'forget_requests', values: [1000], uses: ['request_until'] },
  {
    name: 'read',
    values: [2, all, some(PARTITIONS, () => 10), 1000, 1e9],
    uses: ['event_pkey', 'event_offset < ('],
  },
]

/** Fills a pool, a topic and the requests, and leaves the statistics of when they were empty. */
export async function fillTables(server: PostgresServer, rows: number): Promise<void> {
  const context = { clock: systemClock, telemetry: createTelemetry('plans'), faults: noFaults }
  const store = await openStore(server.url(), context)
  await store.pool.entries.open({ name: 'large', mode: 'one', partitions: PARTITIONS, rememberMs: 0 })
  await store.log.open({ name: 'events', partitions: PARTITIONS, retentionMs: null })
  await store.close()
  await server.run(`
    alter table headrace.entry set (autovacuum_enabled = off);
    alter table headrace.event set (autovacuum_enabled = off);
    alter table headrace.request set (autovacuum_enabled = off);
    alter table headrace.arrival set (autovacuum_enabled = off);
    alter table headrace.event_arrival set (autovacuum_enabled = off);
    analyze;
    insert into headrace.entry (pool, key, slot, turn, due_at, enqueued_at, put_at, tally, attempt, note, key_hash,
      partition, lane, failing, state, until)
    select 1, 'key-' || n, -9007199254740991, n, ${now} + n, 0, 0, 1, case when n % 1000 = 1 then 1 else 0 end, 0, n,
      n % ${PARTITIONS}, 1, false, case n % 1000 when 2 then 'dead' when 3 then 'fired' else 'live' end, ${now}
    from generate_series(1, ${rows}) as n;
    insert into headrace.event (topic, partition, event_offset, time, id, key, value)
    select 2, n % ${PARTITIONS}, n / ${PARTITIONS}, 0, n, n, '1' from generate_series(0, ${rows}) as n;
    insert into headrace.arrival (pool, partition, key_hash, lane, rule, key)
    select n % 3, n % ${PARTITIONS}, n, 1, 0, n from generate_series(1, ${rows}) as n;
    insert into headrace.event_arrival (topic, partition, event_id, key, value)
    select n % 3, n % ${PARTITIONS}, n, n, '1' from generate_series(1, ${rows}) as n;
    insert into headrace.request (scope, round, until, id, fingerprint, attempt)
    select 1, 0, ${now} + n, n, '', '' from generate_series(1, 50000) as n`)
}

const queries = new Queries('headrace')

/** What is wrong with the plan of a statement; nothing when it reads by its indexes. */
export async function faultsOf(server: PostgresServer, planned: Planned): Promise<string[]> {
  const { name, values, uses, avoids = [] } = planned
  const rows = await server.run(`explain ${queries.text(name)}`, values)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  const scans = plan.match(/Seq Scan on (entry|event|request|arrival|event_arrival) |JIT/g) ?? []
  return [
    ...uses.filter((use) => !plan.includes(use)).map((use) => `${name}: no ${use} in\n${plan}`),
    ...avoids.filter((scan) => plan.includes(scan)).map((scan) => `${name}: ${scan} in\n${plan}`),
    ...scans.map((scan) => `${name}: ${scan} in\n${plan}`),
  ]
}
