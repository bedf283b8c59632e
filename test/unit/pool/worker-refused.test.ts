// Settlements that the store refuses: they are sought out, and hold up no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../src/errors.ts'
import { again, dead, outcomeOf } from '../../../src/pool/answer.ts'
import { retryRules } from '../../../src/pool/back-off.ts'
import type { Entries } from '../../../src/pool/store.ts'
import type { Settlement } from '../../../src/pool/settle.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker } from './open-worker.ts'

/** Refuses every batch with one of which this is true. */
function refusing(isRefused: (settlement: Settlement) => Error | null) {
  const calls: number[] = []
  const entries = (inner: Entries): Partial<Entries> => ({
    settle: (pool, settlements, claim) => {
      calls.push(settlements.length)
      const error = settlements.map(isRefused).find((each) => each !== null)
      return error === undefined ? inner.settle(pool, settlements, claim) : Promise.reject(error)
    },
  })
  return { calls, entries }
}

const refused = (): Error => new HeadraceError('store_refused', 'a check of yours says no')
const many = (count: number): { key: string }[] => Array.from({ length: count }, (_, n) => ({ key: `k${n}` }))

test('[X19] one settlement that the store refuses is dead as unsettled, and hundreds of others are done', async () => {
  const { calls, entries } = refusing(({ key, outcome }) =>
    key === 'k77' && outcome.kind !== 'dead' ? refused() : null,
  )
  const { clock, pool, worker, store, telemetry } = await openWorker(() => again('1h'), {
    concurrency: 500,
    entries,
  })
  const told: unknown[] = []
  telemetry.on('run.unsettled', ({ key, outcome, isDead }) => told.push([key, outcome, isDead]))
  await pool.putAll(many(500))
  await clock.advance(100)
  assert.deepEqual(told, [['k77', 'again', true]])
  assert.deepEqual(await pool.count(), { waiting: 499, due: 0, 'backing-off': 0, dead: 1 })
  const [death] = await store.pool.browse.deaths('work', 10)
  assert.deepEqual([death?.key, death?.reason], ['k77', 'unsettled'])
  assert.match(death?.error ?? '', /again: a check of yours says no/)
  assert.ok(calls.length <= 40, `${calls.length} calls`)
  await worker.service.stop()
})

test('[X19] what cannot be written at all is let go after a rest, and others of its worker go on meanwhile', async () => {
  const runs: [string, number][] = []
  const { entries } = refusing(({ key }) => (key === 'bad' ? refused() : null))
  const { clock, pool, worker, ownership } = await openWorker(
    ({ key }) => void runs.push([key, Math.floor((clock.now() - START) / 1000)]),
    { entries },
  )
  await pool.put('bad')
  await clock.advance(1000)
  await pool.putAll(many(3))
  await clock.advance(11_000)
  assert.deepEqual(runs, [
    ['bad', 0],
    ['k0', 1],
    ['k1', 1],
    ['k2', 1],
    ['bad', 10],
  ])
  assert.deepEqual(await pool.count(), { waiting: 0, due: 1, 'backing-off': 0, dead: 0 })
  await worker.service.stop()
  await ownership.idle([0], 0)
  assert.equal(clock.pending, 0)
})

test('[X17] [X19] what is refused for the second time during a stop is let go, and nothing is waited for after it', async () => {
  const answers: (() => void)[] = []
  const settle = (): Promise<never> => new Promise((_, reject) => void answers.push(() => reject(refused())))
  const opened = await openWorker(() => undefined, { entries: () => ({ settle }) })
  const { clock, pool, worker, ownership } = opened
  await pool.put('bad')
  await clock.advance(100)
  answers[0]?.()
  await clock.advance(100)
  const stopped = worker.service.stop()
  await clock.advance(100)
  answers[1]?.()
  await stopped
  await ownership.idle([0], 0)
  assert.deepEqual([answers.length, clock.pending], [2, 0])
  assert.equal((await pool.get('bad'))?.state, 'due')
})

test('[X15] [X19] an error that is no refusal is tried again without another run, and holds up no other', async () => {
  let isBroken = true
  const runs: string[] = []
  const { entries } = refusing(({ key }) => (key === 'odd' && isBroken ? new TypeError('a defect') : null))
  const { clock, pool, worker } = await openWorker(({ key }) => void runs.push(key), { entries })
  await pool.putAll([{ key: 'odd' }, ...many(5)])
  await clock.advance(5000)
  assert.deepEqual((await pool.count()).due, 1)
  isBroken = false
  await clock.advance(6000)
  assert.deepEqual([runs.length, (await pool.count()).due], [6, 0])
  await worker.service.stop()
})

test('[X19] reasons and errors are texts that every store can keep, whatever they were', async () => {
  const context = { now: START, failures: 0, rules: retryRules(), random: 0 }
  for (const [given, kept] of [
    ['a\0b', 'a\uFFFDb'],
    ['lone \uD83D', 'lone \uFFFD'],
    [`${'x'.repeat(3999)}\u{1F600}`, `${'x'.repeat(3999)}\uFFFD…`],
  ] as const)
    assert.deepEqual(outcomeOf(dead(given), context), { kind: 'dead', reason: kept, error: null })
  const long = outcomeOf(dead('x'.repeat(100_000_000)), context)
  assert.ok(long.kind === 'dead' && long.reason.length === 4001)
  assert.throws(() => outcomeOf({ kind: 'again', when: { inMs: 3e14 } }, context), /answered the time/)
})
