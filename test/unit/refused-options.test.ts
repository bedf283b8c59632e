// Every call of the library refuses an option that it does not know, by name and with the nearest one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../src/client/client.ts'
import { headrace } from '../../src/headrace.ts'
import { again } from '../../src/pool/answer.ts'
import { traceWork } from '../../src/otel/otel.ts'
import { serve } from '../../src/server/server.ts'
import { type Refused, refuses, wrong } from './refuses.ts'

const POOL_CALLS: Refused[] = [
  {
    call: (race) => race.pool('a').put('k', wrong({ delay: 5000 })),
    says: 'a put has no option "delay"',
    suggests: /did you mean in\?/,
  },
  {
    call: (race) => race.pool('a').put('k', wrong({ key: 'other' })),
    says: 'a put has no option "key"',
    suggests: /choose at, in, payload/,
  },
  {
    call: (race) => race.pool('a').putAll([{ key: 'k' }, wrong({ key: 'l', payloads: 1 })]),
    says: 'a put of many has no option "payloads"',
    suggests: /did you mean payload\?/,
  },
  {
    call: (race) => race.pool('a').putAll([{ key: 'k' }], wrong({ text: 1 })),
    says: 'putAll has no option "text"',
    suggests: /did you mean tx\?|choose tx/,
  },
  {
    call: (race) => race.pool('a').list(wrong({ tag: 'order-' })),
    says: 'a list of entries has no option "tag"',
    suggests: /choose key, prefix, group, state/,
  },
  {
    call: (race) => race.pool('a').dead.list(wrong({ keys: 'k' })),
    says: 'a list of dead runs has no option "keys"',
    suggests: /did you mean key\?/,
  },
  {
    call: (race) => race.pool('a').dead.redriveAll(wrong({ form: 0 })),
    says: 'a choice of dead runs has no option "form"',
    suggests: /did you mean from\?/,
  },
  {
    call: (race) => race.pool('a').pause(wrong({ untill: 1 })),
    says: 'a pause has no option "untill"',
    suggests: /did you mean until\?/,
  },
  {
    call: (race) => race.pool('a').limit(wrong({ pool: { concurency: 1 } })),
    says: 'limits.pool has no option "concurency"',
    suggests: /did you mean concurrency\?/,
  },
  {
    call: (race) => race.topic('t').append(wrong({ key: 'k', val: 1 })),
    says: 'an event has no option "val"',
    suggests: /did you mean value\?/,
  },
  {
    call: (race) => race.topic('t').append([{ key: 'k', value: 1 }], wrong({ tz: 1 })),
    says: 'append has no option "tz"',
    suggests: /did you mean tx\?/,
  },
]

test('every call on pools and topics refuses an option that it does not know, with the nearest one', () =>
  refuses(POOL_CALLS))

const RACE_CALLS: Refused[] = [
  {
    call: (race) => race.pool('a', wrong({ concurrency: 3 })),
    says: 'a pool has no option "concurrency"',
    suggests: /race\.work/,
  },
  {
    call: (race) => race.topic('t', wrong({ retain: '1d' })),
    says: 'a topic has no option "retain"',
    suggests: /choose partitions|retention/,
  },
  {
    call: (race) => race.ticks('t', wrong({ payloads: 'all' })),
    says: 'ticks has no option "payloads"',
    suggests: /choose partitions/,
  },
  {
    call: (race) => race.work(race.pool('a'), () => undefined, wrong({ concurency: 3 })),
    says: 'a worker has no option "concurency"',
    suggests: /did you mean concurrency\?/,
  },
  {
    call: (race) => race.work(race.pool('a'), () => undefined, { retry: wrong({ attempt: 3 }) }),
    says: 'retry has no option "attempt"',
    suggests: /did you mean attempts\?/,
  },
  {
    call: (race) => race.own('o', wrong({ partition: 3 })),
    says: 'a resource has no option "partition"',
    suggests: /did you mean partitions\?/,
  },
  {
    call: (race) => race.lock('l', wrong({ waits: '1s' })),
    says: 'a lock has no option "waits"',
    suggests: /did you mean wait\?/,
  },
  {
    call: (race) => race.why(race.pool('a'), 'k', wrong({ dueAt: 1 })),
    says: 'why has no option "dueAt"',
    suggests: /choose at/,
  },
  {
    call: (race) => serve(race, wrong({ prot: 0 })),
    says: 'serve has no option "prot"',
    suggests: /did you mean port\?/,
  },
  {
    call: (race) => traceWork(race, wrong({}), wrong({ sample: 1 })),
    says: 'traceWork has no option "sample"',
    suggests: /did you mean share\?|choose share/,
  },
  {
    call: () => again(wrong({ after: '1s' })),
    says: 'a time to run has no option "after"',
    suggests: /choose in, at/,
  },
  {
    call: () => headrace(wrong({ stores: 'memory:' })),
    says: 'headrace has no option "stores"',
    suggests: /did you mean store\?/,
  },
]

test('every call on a race refuses an option that it does not know, with the nearest one', () =>
  refuses(RACE_CALLS))

const client = createClient({ server: 'http://127.0.0.1:1' })
const CLIENT_CALLS: Refused[] = [
  {
    call: () => createClient(wrong({ servers: 'http://a' })),
    says: 'a client has no option "servers"',
    suggests: /did you mean server\?/,
  },
  {
    call: () => client.ticks.add({ item: 'a', at: 0 }, wrong({ idempotencykeys: 'a' })),
    says: 'adding a tick has no option "idempotencykeys"',
    suggests: /did you mean idempotencyKey\?/,
  },
  {
    call: () => client.ticks.move('a', wrong({ form: 'x', to: 'y' })),
    says: 'moving a tick has no option "form"',
    suggests: /did you mean from\?/,
  },
  {
    call: () => client.topics.read('t', wrong({ partition: 0, form: 1 })),
    says: 'reading a topic has no option "form"',
    suggests: /did you mean from\?/,
  },
  {
    call: () => client.pools.of('a').put({ key: 'k' }, wrong({ idempotency: 'x' })),
    says: 'a put has no option "idempotency"',
    suggests: /did you mean idempotencyKey\?/,
  },
  {
    call: () => client.pools.of('a').add(1, wrong({ key: 'k' })),
    says: 'add has no option "key"',
    suggests: /use put with a key of your own/,
  },
  {
    call: () =>
      client.pools
        .of('a')
        .follow('k', wrong({ signals: 1 }))
        .next(),
    says: 'following an entry has no option "signals"',
    suggests: /did you mean signal\?/,
  },
]

test('every call of the client refuses an option that it would drop', () => refuses(CLIENT_CALLS))

const WRONG_KINDS: Refused[] = [
  {
    call: (race) => race.pool('a').list(wrong({ state: 'failed' })),
    says: 'state of a list of entries is "failed"',
    suggests: /choose waiting, due, backing-off, dead/,
  },
  {
    call: (race) => race.pool('a').list(wrong({ limit: 'ten' })),
    says: 'limit of a list of entries is "ten"',
    suggests: /a whole number from 1 on/,
  },
  {
    call: (race) => race.pool('a').dead.list(wrong({ error: 5 })),
    says: 'error of a list of dead runs is 5',
    suggests: /a text/,
  },
  {
    call: (race) => race.pool('a', wrong({ remember: true })),
    says: 'remember of a pool is a boolean',
    suggests: /'250ms'/,
  },
  {
    call: (race) => race.lock('l', wrong({ signal: {} })),
    says: 'signal of a lock is an object',
    suggests: /an AbortSignal/,
  },
  {
    call: (race) => traceWork(race, wrong({}), { share: 10 }),
    says: 'share of traceWork is 10',
    suggests: /a number from 0 to 1/,
  },
  {
    call: (race) => race.pool('a').put('k', wrong('in 5 s')),
    says: 'the options of a put are "in 5 s"',
    suggests: /an object with at, in/,
  },
  {
    call: (race) => race.pool('a').dead.redriveAll(wrong(undefined)),
    says: 'the options of a choice of dead runs are missing',
    suggests: /an object with key/,
  },
  {
    call: (race) => race.work(race.pool('a'), wrong({ concurrency: 1 })),
    says: 'the handler of a worker is an object',
    suggests: /give a function/,
  },
  {
    call: (race) => race.pool(wrong(undefined)),
    says: 'the pool name missing is not allowed',
    suggests: /1 to 63 letters/,
  },
]

test('an option of the wrong kind is refused by name, with what it may be', () => refuses(WRONG_KINDS))

test('a list without options has the first 100 entries, and goes on after its cursor', async () => {
  await using race = await headrace({ store: 'memory:' })
  const pool = race.pool('a')
  const at = race.clock.now() + 60_000
  await pool.putAll(Array.from({ length: 130 }, (_, nth) => ({ key: `k${nth}`, at })))
  for (const first of [await pool.list(), await pool.list({})]) {
    assert.equal(first.entries.length, 100)
    const { entries, next } = await pool.list({ after: first.next })
    assert.deepEqual([entries.length, next], [30, null])
  }
  const due = await pool.list({ dueFrom: new Date(at), dueBefore: at + 1, state: 'waiting', limit: 3 })
  assert.equal(due.entries.length, 3)
})

test('events are appended as a list, too', async () => {
  await using race = await headrace({ store: 'memory:' })
  const topic = race.topic('t')
  assert.equal((await topic.append([{ key: 'a', value: 1 }])).length, 1)
  assert.equal((await topic.append({ key: 'a', value: 1 }, { key: 'b', value: 2 })).length, 2)
})
