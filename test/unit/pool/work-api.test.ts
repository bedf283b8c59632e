// Work and what was given up, through the public API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dead } from '../../../src/pool/answer.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openRace } from '../open-race.ts'

test('[S10] [S11] dead runs are listed with reason and error, run again when they are redriven, and can be removed', async () => {
  const { race, clock } = openRace()
  const pool = race.pool('work')
  let isMended = false
  race.work(
    pool,
    ({ key }) => {
      if (key === 'x') return dead('unknown customer')
      if (!isMended) throw new Error('no route')
      return undefined
    },
    { retry: { attempts: 1 } },
  )
  await race.start()
  await pool.putAll([{ key: 'x', payload: { id: 7 } }])
  await clock.advance(100)
  await pool.put('y')
  await clock.advance(100)
  const [newest, oldest] = await pool.dead.list()
  assert.deepEqual([newest?.key, newest?.reason, newest?.tally], ['y', 'attempts', 1])
  assert.match(newest?.error ?? '', /no route/)
  assert.deepEqual(
    [oldest?.reason, oldest?.payload, oldest?.error, oldest?.at],
    ['unknown customer', { id: 7 }, null, null],
  )
  assert.ok(oldest !== undefined && oldest.diedAt.getTime() >= START)
  assert.equal((await pool.dead.list({ limit: 1 })).length, 1)
  isMended = true
  assert.deepEqual([await pool.dead.redrive('y'), await pool.dead.remove('x')], [true, true])
  await clock.advance(100)
  assert.deepEqual(await pool.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
  assert.deepEqual([await pool.dead.redrive('y'), await pool.dead.remove('x')], [false, false])
  await race.stop()
})

test('[X17] the workers of several pools drain at once, and puts of their handlers are answered', async () => {
  const { race, clock } = openRace()
  const pools = ['left', 'right'].map((name) => race.pool(name))
  const results: string[] = []
  for (const pool of pools)
    race.work(pool, async () => {
      await clock.sleep(20_000)
      results.push((await race.pool('next').put(pool.name)).result)
    })
  await race.start()
  for (const pool of pools) await pool.put('a')
  await clock.advance(100)
  const stopping = race.stop()
  await clock.advance(21_000)
  await stopping
  assert.deepEqual([results, race.state], [['created', 'created'], 'stopped'])
})

test('[X1] a pool has one worker, or ticks, and options that are not understood are refused', async () => {
  const { race } = openRace()
  const pool = race.pool('work')
  race.work(pool, () => undefined)
  const refused = { code: 'invalid_options' }
  assert.throws(() => race.work(pool, () => undefined), refused)
  assert.throws(() => race.ticks('work', { mode: 'one' }), refused)
  race.ticks('fired')
  assert.throws(() => race.work(race.pool('fired'), () => undefined), refused)
  for (const options of [
    { concurrency: 0 },
    { concurrency: 1.5 },
    { timeout: 'soon' },
    { concurency: 5 },
    { onDoubt: 'wait' },
  ]) {
    assert.throws(() => race.work(race.pool('other'), () => undefined, options as object), refused)
  }
  assert.deepEqual(
    race
      .services()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('work')),
    ['work work'],
  )
  await race.stop()
})

test('[S12] an entry that backs off shows how often it failed and its last error, and a dead one all attempts', async () => {
  const { race, clock } = openRace()
  const pool = race.pool('work')
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:9')
  const failing = (): never => {
    throw new TypeError('fetch failed', { cause })
  }
  race.work(pool, failing, { retry: { attempts: 2, first: '1m' } })
  await race.start()
  await pool.put('a')
  await clock.advance(100)
  const backing = await pool.get('a')
  assert.deepEqual([backing?.state, backing?.attempt], ['backing-off', 1])
  assert.match(
    backing?.lastError ?? '',
    /^TypeError: fetch failed\n[^]*\ncaused by: Error: connect ECONNREFUSED/,
  )
  await clock.advance(60_000)
  const { entries } = await pool.list({ limit: 1 })
  assert.deepEqual([entries[0]?.state, entries[0]?.attempt], ['dead', 2])
  const [death] = await pool.dead.list()
  assert.match(death?.error ?? '', /\ncaused by: Error: connect ECONNREFUSED/)
  await race.stop()
})

test('[C2] a reschedule answers its due time as a Date, as a put does', async () => {
  const { race, clock } = openRace()
  const pool = race.pool('work')
  const { dueAt } = await pool.put('a', { at: clock.now() + 1000 })
  const moved = await pool.reschedule('a', null, clock.now() + 2000)
  assert.deepEqual(moved, {
    kind: 'moved',
    answer: { result: 'replaced', dueAt: new Date(dueAt.getTime() + 1000), tally: 1 },
  })
  await race.stop()
})
