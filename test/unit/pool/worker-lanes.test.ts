// Floods of one lane: nothing of another lane waits for their end. Handlers of 10 ms, ten at once, on a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lane } from '../../../src/pool/entry.ts'
import { openRace } from '../open-race.ts'
import { type OpenWorker, openWorker } from './open-worker.ts'

interface Flooded extends OpenWorker {
  started: { key: string; at: number }[]
}

async function flood(lane: Lane, entries: number): Promise<Flooded> {
  const started: Flooded['started'] = []
  const opened = await openWorker(
    async ({ key }) => {
      started.push({ key, at: opened.clock.mono() })
      await opened.clock.sleep(10)
    },
    { concurrency: 10 },
  )
  await opened.pool.putAll(Array.from({ length: entries }, (_, nth) => ({ key: `${lane}-${nth}`, lane })))
  return { ...opened, started }
}

async function end({ worker, clock }: Flooded): Promise<void> {
  void worker.service.stop()
  await clock.advance(60_000)
}

test('[X6] under a flood of bulk a fan-out entry starts within a second, again and again', async () => {
  const flooded = await flood('bulk', 5000)
  const { pool, clock, started } = flooded
  for (let nth = 0; nth < 3; nth += 1) {
    await clock.advance(300 + nth * 7)
    const putAt = clock.mono()
    await pool.put(`parent-${nth}`, { lane: 'fanout' })
    await clock.advance(1000)
    const run = started.find(({ key }) => key === `parent-${nth}`)
    assert.ok(run !== undefined && run.at - putAt <= 1000, `parent-${nth} waits since ${putAt}`)
  }
  assert.ok((await pool.count()).due > 0, 'the flood is not over')
  await end(flooded)
})

test('[X6] under a flood of fan-out bulk gets at least half its weight, and normal its own', async () => {
  const flooded = await flood('fanout', 4000)
  const { pool, clock, started } = flooded
  for (const lane of ['normal', 'bulk'] as const)
    await pool.putAll(Array.from({ length: 1500 }, (_, nth) => ({ key: `${lane}-${nth}`, lane })))
  await clock.advance(2000)
  const share = (lane: Lane): number =>
    started.filter(({ key }) => key.startsWith(lane)).length / started.length
  assert.ok(started.length > 1000, `${started.length}`)
  assert.ok(share('bulk') >= 0.05, `bulk got ${share('bulk')}`)
  assert.ok(share('normal') >= 0.15, `normal got ${share('normal')}`)
  assert.ok(share('fanout') >= 0.5, `fanout got ${share('fanout')}`)
  await end(flooded)
})

test('[E5] a pool that fans out goes before its children, whose lane is that of their own pool', async () => {
  const { race, clock } = openRace()
  const [collect, items] = [race.pool('collect', { fansOut: true }), race.pool('items')]
  race.work(collect, async ({ key }) => {
    await items.putAll([{ key: `${key}/1` }, { key: `${key}/2`, lane: 'bulk' }])
  })
  await race.start()
  await collect.put('all', { in: '1s' })
  assert.equal((await collect.get('all'))?.lane, 'fanout')
  await clock.advance(1100)
  assert.deepEqual([(await items.get('all/1'))?.lane, (await items.get('all/2'))?.lane], ['normal', 'bulk'])
  assert.throws(() => race.pool('collect', { fansOut: false }), { code: 'pool_mismatch' })
  assert.equal(race.pool('collect'), collect)
  assert.throws(() => race.pool('other', { fansOut: 'yes' as unknown as boolean }), {
    code: 'invalid_options',
  })
  await race.stop()
})
