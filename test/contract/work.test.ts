// Several members work on one pool, on every store: each put is in the tally of one run that was done, runs of a key do
// not overlap, and nothing is left.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import type { Headrace } from '../../src/headrace.ts'
import { createRandom } from '../../src/random.ts'
import { startPostgres } from '../servers/postgres.ts'
import { until } from './postgres-house.ts'
import { type Place, workPlaces } from './work-places.ts'

const KEYS = 100
const PUTS = 1500
const server = await startPostgres(15, { fsync: false })
after(() => server?.remove())
const places = workPlaces(server, { lease: '1s', partitions: 8 })

/** What all members did, and whether runs of one key were ever under way at once. */
class Ledger {
  readonly tallies = new Map<string, number>()
  readonly members = new Set<string>()
  readonly underWay = new Set<string>()
  overlaps = 0
  runs = 0

  async start(place: Place, name: string): Promise<Headrace> {
    const race = await place.open(name)
    race.work(race.pool('work'), async ({ key, tally }) => {
      if (this.underWay.has(key)) this.overlaps += 1
      this.underWay.add(key)
      this.members.add(name)
      await systemClock.sleep(systemClock.random() * 5)
      this.underWay.delete(key)
      this.runs += 1
      this.tallies.set(key, (this.tallies.get(key) ?? 0) + tally)
    })
    await race.start()
    return race
  }
}

/** Puts from all members; on the way one stops and another comes. Answers how often each key was put. */
async function putAndChange(place: Place, ledger: Ledger, races: Headrace[]): Promise<Map<string, number>> {
  const random = createRandom(7)
  const puts = new Map<string, number>()
  for (let nth = 0; nth < PUTS; nth += 10) {
    const keys = Array.from({ length: 10 }, () => `k${random.below(KEYS)}`)
    await random
      .pick(races)
      .pool('work')
      .putAll(keys.map((key) => ({ key, payload: nth, in: random.below(20) })))
    for (const key of keys) puts.set(key, (puts.get(key) ?? 0) + 1)
    if (nth === 500) await races.shift()?.stop()
    if (nth === 1000) races.push(await ledger.start(place, 'm4'))
    await systemClock.sleep(5)
  }
  return puts
}

for (const [store, { create, skip }] of Object.entries(places)) {
  void describe(`work on ${store}`, { skip }, () => {
    test('[P4] [X2] members that come and go do all work, each put once, and no key at two places at once', async () => {
      const place = await create()
      const ledger = new Ledger()
      const races: Headrace[] = []
      try {
        for (const name of ['m1', 'm2', 'm3']) races.push(await ledger.start(place, name))
        const puts = await putAndChange(place, ledger, races)
        const pool = races[0]?.pool('work')
        await until('all is done', async () => {
          const { waiting, due } = (await pool?.count()) ?? { waiting: 1, due: 1 }
          return waiting + due === 0
        })
        assert.deepEqual(ledger.tallies, puts)
        assert.deepEqual([ledger.overlaps, ledger.underWay.size], [0, 0])
        assert.ok(ledger.runs <= PUTS && ledger.members.size >= 3, [...ledger.members].join())
      } finally {
        for (const race of races) await race.stop()
        await place.close()
      }
    })

    test('[X1] a member that only puts owns nothing of the pool, and all of it is worked on', async () => {
      const place = await create()
      const ledger = new Ledger()
      const putting = await place.open('puts')
      await putting.start()
      const working = await ledger.start(place, 'works')
      try {
        await putting.pool('work').putAll(Array.from({ length: 100 }, (_, nth) => ({ key: `only-${nth}` })))
        const isDone = (): Promise<boolean> => Promise.resolve(ledger.tallies.size === 100)
        await until('all is done', isDone)
        assert.deepEqual([...ledger.members], ['works'])
      } finally {
        await putting.stop()
        await working.stop()
        await place.close()
      }
    })
  })
}
