// What callers bring from other libraries, or forget: each is refused with what to write here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headrace } from '../../src/headrace.ts'
import { again } from '../../src/pool/answer.ts'
import { type Refused, refuses, wrong } from './refuses.ts'

const NAMES: [call: Refused['call'], name: string, suggests: RegExp][] = [
  [(race) => race.pool('a').put('k', wrong({ text: 'hi' })), 'text', /data goes under payload/],
  [(race) => race.pool('a').putAll([wrong({ key: 'k', body: 1 })]), 'body', /data goes under payload/],
  [(race) => race.pool('a').put('k', wrong({ maxWait: '1m' })), 'maxWait', /did you mean longestWait\?/],
  [(race) => race.pool('a').put('k', wrong({ transaction: {} })), 'transaction', /did you mean tx\?/],
  [(race) => race.pool('a').add(1, wrong({ transaction: {} })), 'transaction', /did you mean tx\?/],
  [(race) => race.pool('a').putAll([], wrong({ transaction: {} })), 'transaction', /did you mean tx\?/],
  [(race) => race.topic('t').append([], wrong({ transaction: {} })), 'transaction', /did you mean tx\?/],
  [
    (race) => race.pool('a').put('k', wrong({ retries: 3 })),
    'retries',
    /race\.work\(.*retry: \{ attempts \}/,
  ],
  [(race) => race.pool('a').put('k', wrong({ delay: 3 })), 'delay', /did you mean in\?/],
  [
    (race) => race.work(race.pool('a'), () => undefined, wrong({ retries: 3 })),
    'retries',
    /did you mean retry: \{ attempts \}\?/,
  ],
  [() => again(wrong({ delay: 5 })), 'delay', /did you mean in\?/],
  [() => headrace(wrong({ url: 'memory:' })), 'url', /did you mean store\?/],
  [() => headrace(wrong({ connectionString: 'memory:' })), 'connectionString', /did you mean store\?/],
]

test('a name of another library is refused with the name here', async () => {
  await using race = await headrace({ store: 'memory:' })
  for (const [call, name, remedy] of NAMES) {
    const message = new RegExp(`has no option "${name}"$`)
    await assert.rejects(async () => call(race), { code: 'invalid_options', message, remedy })
  }
})

const WITHOUT_POOL: Refused[] = [
  {
    call: (race) => race.work(wrong('a'), wrong(undefined)),
    says: 'the pool of a worker is "a"',
    suggests: /race\.work\(race\.pool\("a"\), async \(run\)/,
  },
  {
    call: (race) => race.work(race.pool('a'), wrong(undefined)),
    says: 'the handler of a worker is missing',
    suggests: /give a function/,
  },
  {
    call: (race) => race.why(wrong('a'), 'k'),
    says: 'the pool of why is "a"',
    suggests: /race\.why\(race\.pool\("a"\), key\)/,
  },
]

test('a name in the place of a pool is refused with the call as it is written', () => refuses(WITHOUT_POOL))

test('a key that is no text is refused in words for programs and requests alike', async () => {
  await using race = await headrace({ store: 'memory:' })
  const refused = {
    code: 'invalid_input',
    message: 'key must be a text, not a number',
    remedy: /^give a text/,
  }
  await assert.rejects(race.pool('a').put(wrong(17)), refused)
})

const TRANSACTIONS: Refused[] = (
  [
    [null, 'tx is null, which is no transaction', /leave tx out/],
    [undefined, 'tx is undefined, which is no transaction', /leave tx out/],
    [Promise.resolve({}), 'tx is a promise', /await it/],
    [{}, 'tx is an object, which is no known transaction', /fromPg/],
  ] as const
).flatMap(([tx, says, suggests]) => [
  { call: (race) => race.pool('a').put('k', wrong({ tx })), says, suggests },
  { call: (race) => race.pool('a').add(1, wrong({ tx })), says, suggests },
  { call: (race) => race.pool('a').putAll([{ key: 'k' }], wrong({ tx })), says, suggests },
  { call: (race) => race.topic('t').append([{ key: 'k', value: 1 }], wrong({ tx })), says, suggests },
])

test('a tx that is nothing, or a promise, is refused instead of a put that commits by itself', () =>
  refuses(TRANSACTIONS))
