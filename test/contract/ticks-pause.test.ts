// A pause of ticks, on every store: it holds for a member that comes later, and whoever resumes the pool ends it.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Headrace } from '../../src/headrace.ts'
import type { Topic } from '../../src/log/topic.ts'
import { startPostgres } from '../servers/postgres.ts'
import { until } from './postgres-house.ts'
import { type Place, workPlaces } from './work-places.ts'

const PARTITIONS = 4
const server = await startPostgres(15, { fsync: false })
after(() => server?.remove())
const places = workPlaces(server, { lease: '1s', partitions: PARTITIONS })

/** Members, one after the other; all are stopped at the end. */
async function withMembers(place: Place, play: (races: Headrace[]) => Promise<void>): Promise<void> {
  const races: Headrace[] = []
  try {
    for (const name of ['pauses', 'moves']) races.push(await place.open(name))
    await play(races)
  } finally {
    for (const race of races) await race.stop()
    await place.close()
  }
}

function heldBy(race: Headrace): number {
  return race.roster.beat()?.holding['pool/mails']?.length ?? 0
}

async function eventsOf(topic: Topic): Promise<number> {
  return (await topic.status()).bounds.reduce((sum, { head }) => sum + head, 0)
}

for (const [store, { create, skip }] of Object.entries(places)) {
  void describe(`a pause of ticks on ${store}`, { skip }, () => {
    test('[T6] [L11] ticks that were paused before their member came stay, and a resume by another lets them move', async () => {
      await withMembers(await create(), async ([other, race]) => {
        assert.ok(other !== undefined && race !== undefined)
        await other.pool('mails', { mode: 'each' }).pause({ reason: 'deploy' })
        const { pool, topic } = race.ticks('mails')
        const free = race.ticks('free')
        await race.start()
        await pool.put('a', { at: 0 })
        await until('it holds the ticks', async () => heldBy(race) === PARTITIONS)
        // Their loop has had its turn by then.
        for (const key of ['b', 'c']) await free.pool.put(key, { at: 0 })
        await until('those of another pool moved', async () => (await eventsOf(free.topic)) === 2)
        await until('it has pulsed since', async () => race.pulseAgeMs < 50)
        assert.deepEqual([await eventsOf(topic), (await pool.count()).due], [0, 1])
        await other.pool('mails').resume()
        await until('it moved', async () => (await eventsOf(topic)) === 1)
      })
    })

    test('[T6] [L11] limits of ticks are refused by whoever is asked, and their pause stays what it was', async () => {
      await withMembers(await create(), async ([other, race]) => {
        assert.ok(other !== undefined && race !== undefined)
        const pool = other.pool('mails', { mode: 'each' })
        const paused = await pool.pause({ by: 'ann', reason: 'deploy' })
        race.ticks('mails')
        await race.start()
        const { control } = other.store.pool
        await until('it is marked', async () => (await control.read('mails')).control.isTicks === true)
        await assert.rejects(pool.limit({ pool: { rate: { count: 2, per: '1s' } } }), {
          code: 'invalid_options',
          message: /^the pool mails is of ticks/,
        })
        assert.deepEqual([await pool.paused(), (await pool.limits()).pool.rate], [paused, null])
        await pool.resume()
        assert.equal((await control.read('mails')).control.isTicks, true)
      })
    })
  })
}
