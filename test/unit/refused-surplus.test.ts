// Every call of the library refuses arguments behind the last one that it takes: a transaction given there would be dropped,
// and a put would commit by itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headrace } from '../../src/headrace.ts'
import { traceWork } from '../../src/otel/otel.ts'
import { serve } from '../../src/server/server.ts'
import { type Refused, refuses, wrong } from './refuses.ts'

const tx = wrong({ query: () => Promise.resolve() })
const surplus = wrong({ tx })
/** Types do not hold callers from JavaScript. */
const untyped = (subject: object): Record<string, (...given: unknown[]) => unknown> => subject as never
const handler = (): void => undefined

const WITH_TRANSACTIONS: Refused[] = [
  {
    call: (race) => untyped(race.pool('a'))['put']?.('k', { payload: 1 }, surplus),
    says: 'pool.put was given 3 arguments, and takes 2',
    suggests: /tx belongs in the options/,
  },
  {
    call: (race) => untyped(race.pool('a'))['add']?.(1, {}, surplus),
    says: 'pool.add was given 3 arguments, and takes 2',
    suggests: /tx belongs in the options/,
  },
  {
    call: (race) => untyped(race.pool('a'))['putAll']?.([{ key: 'k' }], {}, surplus),
    says: 'pool.putAll was given 3 arguments, and takes 2',
    suggests: /tx belongs in the options/,
  },
  {
    call: (race) => untyped(race.topic('t'))['append']?.([{ key: 'k', value: 1 }], {}, surplus),
    says: 'topic.append was given 3 arguments, and takes 2',
    suggests: /tx belongs in the options/,
  },
  {
    call: (race) => untyped(race.topic('t'))['append']?.({ key: 'k', value: 1 }, surplus),
    says: 'an event has no option "tx"',
    suggests: /tx belongs in the options/,
  },
]

test('a transaction behind the options is refused, and nothing is put', async () => {
  await refuses(WITH_TRANSACTIONS)
  await using race = await headrace({ store: 'memory:' })
  await assert.rejects(async () => untyped(race.pool('a'))['put']?.('k', {}, surplus))
  assert.equal(await race.pool('a').get('k'), null)
})

/** The last argument is one too many. */
const OTHERS: [name: string, call: Refused['call']][] = [
  ['pool.reschedule', (race) => untyped(race.pool('a'))['reschedule']?.('k', null, 1e12, surplus)],
  ['pool.cancel', (race) => untyped(race.pool('a'))['cancel']?.('k', undefined, surplus)],
  ['pool.get', (race) => untyped(race.pool('a'))['get']?.('k', undefined, surplus)],
  ['pool.list', (race) => untyped(race.pool('a'))['list']?.({}, surplus)],
  ['pool.pause', (race) => untyped(race.pool('a'))['pause']?.({}, surplus)],
  ['pool.limit', (race) => untyped(race.pool('a'))['limit']?.({}, surplus)],
  ['dead.list', (race) => untyped(race.pool('a').dead)['list']?.({}, surplus)],
  ['dead.redrive', (race) => untyped(race.pool('a').dead)['redrive']?.('k', undefined, surplus)],
  ['dead.redriveAll', (race) => untyped(race.pool('a').dead)['redriveAll']?.({ all: true }, surplus)],
  ['dead.removeAll', (race) => untyped(race.pool('a').dead)['removeAll']?.({ all: true }, surplus)],
  ['topic.read', (race) => untyped(race.topic('t'))['read']?.(0, 0, 1, surplus)],
  ['race.pool', (race) => untyped(race)['pool']?.('a', {}, surplus)],
  ['race.topic', (race) => untyped(race)['topic']?.('t', {}, surplus)],
  ['race.ticks', (race) => untyped(race)['ticks']?.('t', {}, surplus)],
  ['race.work', (race) => untyped(race)['work']?.(race.pool('a'), handler, {}, surplus)],
  ['race.why', (race) => untyped(race)['why']?.(race.pool('a'), 'k', {}, surplus)],
  ['race.own', (race) => untyped(race)['own']?.('o', {}, surplus)],
  ['serve', (race) => untyped({ serve })['serve']?.(race, {}, surplus)],
  ['traceWork', (race) => untyped({ traceWork })['traceWork']?.(race, {}, {}, surplus)],
  ['race.lock', (race) => untyped(race)['lock']?.('l', {}, surplus)],
]

test('every other call refuses an argument behind its last one', async () => {
  await using race = await headrace({ store: 'memory:' })
  for (const [name, call] of OTHERS) {
    await assert.rejects(async () => call(race), {
      code: 'invalid_options',
      message: new RegExp(`^${name} was given`),
    })
  }
})
