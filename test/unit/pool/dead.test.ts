// Many deaths at once, through the public API: filters, groups, and what is done to all that a filter names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from '../../../src/pool/pool.ts'
import type { DeathCursor } from '../../../src/pool/store.ts'
import { claimAll } from '../../../src/testing/claim.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { type OpenRace, openRace } from '../open-race.ts'

/** Lets the keys die, each with its error. */
async function bury({ race }: OpenRace, pool: Pool, errors: Record<string, string>): Promise<void> {
  await pool.putAll(Object.keys(errors).map((key) => ({ key, payload: key })))
  const claim = await claimAll(race.store, pool.name, pool.settings.partitions)
  const take = { partitions: null, lane: 'normal' as const, from: 0, limit: 100_000 }
  const { runs } = await race.store.pool.entries.take(pool.name, take)
  const settlements = runs.map(({ key, slot, turn, seen }) => {
    const outcome = { kind: 'dead' as const, reason: 'attempts', error: errors[key] ?? null }
    return { key, slot, turn, seen, outcome }
  })
  await race.store.pool.entries.settle(pool.name, settlements, claim)
}

test('[Z1] dead runs are filtered by key, reason, error, group and time', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  await bury(open, pool, { a: 'TypeError: no 1', b: 'Error: Timeout after 5 s' })
  await open.clock.advance(10)
  await bury(open, pool, { c: 'Error: Timeout after 6 s' })
  const keys = async (filter: Parameters<typeof pool.dead.list>[0]): Promise<string> =>
    (await pool.dead.list(filter)).map(({ key }) => key).join('')
  const [newest] = await pool.dead.list({ limit: 1 })
  assert.equal(await keys({ key: 'a' }), 'a')
  assert.equal(await keys({ error: 'TIMEOUT' }), 'cb')
  assert.equal(await keys({ error: 'timeout', from: START + 1 }), 'c')
  assert.equal(await keys({ before: START + 1, reason: 'attempts' }), 'ba')
  assert.equal(await keys({ reason: 'no' }), '')
  assert.equal(await keys({ error: 'Error: Timeout after 5', kind: newest?.kind ?? '' }), 'b')
  await open.race.stop()
})

test('[Z2] kinds tell how many died of the same, when, and samples of their keys, the largest first', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  await bury(open, pool, { x: 'Error: other' })
  await open.clock.advance(10)
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await bury(open, pool, { [key]: `Error: no ${key.charCodeAt(0)}` })
    await open.clock.advance(10)
  }
  const { kinds, next } = await pool.dead.kinds()
  assert.equal(next, null)
  assert.deepEqual(
    kinds.map((kind) => ({ ...kind, id: '' })),
    [
      {
        id: '',
        reason: 'attempts',
        error: 'Error: no #',
        count: 6,
        first: START + 10,
        last: START + 60,
        keys: ['f', 'e', 'd', 'c', 'b'],
      },
      { id: '', reason: 'attempts', error: 'Error: other', count: 1, first: START, last: START, keys: ['x'] },
    ],
  )
  await open.race.stop()
})

test('[Z3] all that a filter names is redriven or removed, in steps that tell where they ended', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  const many = Array.from({ length: 10_500 }, (_, nth) => [
    `k${nth}`,
    `Error: ${nth % 2 === 0 ? 'even' : 'odd'}`,
  ])
  await bury(open, pool, Object.fromEntries(many) as Record<string, string>)
  const step = await pool.dead.redriveSome({ error: 'even' })
  assert.ok(step.next !== null && step.redriven < 5250)
  const last = await pool.dead.redriveSome({ error: 'even' }, step.next)
  assert.deepEqual([step.redriven + last.redriven, last.next], [5250, null])
  assert.equal(await pool.dead.redriveAll({ error: 'even' }), 0)
  assert.equal(await pool.dead.redriveAll({ key: 'k1' }), 1)
  assert.deepEqual(await pool.dead.removeAll({ error: 'odd' }), { deaths: 5250, entries: 5249 })
  assert.equal((await pool.dead.kinds()).kinds[0]?.count, 5250)
  assert.deepEqual(await pool.count(), { waiting: 0, due: 5251, 'backing-off': 0, dead: 0 })
  await open.race.stop()
})

test('[Z3] to redrive or remove by nothing is refused, and all of them is said so', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  await bury(open, pool, { a: 'Error: no', b: 'Error: no' })
  const group = undefined as never
  for (const which of [{}, { group }, { all: true, key: 'a' } as never]) {
    await assert.rejects(pool.dead.removeAll(which), { code: 'invalid_options', remedy: /all: true/ })
    await assert.rejects(pool.dead.redriveAll(which), { code: 'invalid_options' })
  }
  assert.equal(await pool.dead.redriveAll({ all: true }), 2)
  assert.deepEqual(await pool.dead.removeAll({ all: true }), { deaths: 2, entries: 0 })
  await open.race.stop()
})

test('[Z3] a page that a filter leaves empty says where to go on', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  const many = Array.from({ length: 10_001 }, (_, nth) => [
    `k${nth}`,
    nth === 0 ? 'Error: first' : 'Error: no',
  ])
  await bury(open, pool, Object.fromEntries(many) as Record<string, string>)
  const first = await pool.dead.page({ error: 'first' })
  assert.deepEqual(first.runs, [])
  assert.ok(first.next !== null)
  const second = await pool.dead.page({ error: 'first', after: first.next })
  assert.deepEqual(
    [second.runs.map(({ key, payload }) => [key, payload]), second.next],
    [[['k0', '"k0"']], null],
  )
  await open.race.stop()
})

test('[Z1] pages of dead runs meet each of them once', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  await bury(open, pool, { a: 'Error: no', b: 'Error: yes', c: 'Error: no', d: 'Error: no' })
  const met: string[] = []
  let after: DeathCursor | undefined
  for (let page = 0; page < 2; page += 1) {
    const { runs, next } = await pool.dead.page({ error: 'no', limit: 2, after })
    met.push(...runs.map(({ key }) => key))
    after = next ?? undefined
  }
  assert.deepEqual([met, after], [['d', 'c', 'a'], undefined])
  await open.race.stop()
})

test('a redrive or a removal without a key is refused, and changes nothing', async () => {
  const open = openRace()
  const pool = open.race.pool('work')
  await bury(open, pool, { a: 'Error: no', b: 'Error: no' })
  // Types do not hold callers from JavaScript.
  const missing = undefined as unknown as string
  await assert.rejects(pool.dead.remove(missing), { code: 'invalid_input' })
  await assert.rejects(pool.dead.redrive(missing), { code: 'invalid_input' })
  assert.equal((await pool.dead.list()).filter(({ state }) => state === 'dead').length, 2)
  await open.race.stop()
})
