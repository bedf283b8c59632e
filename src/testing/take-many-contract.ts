// Takes of many runs: whatever the limit cuts, and however what is due is spread, the earliest come first and none is missed.
import assert from 'node:assert/strict'
import { cutOf } from '../pool/lane-hold.ts'
import type { Taken } from '../pool/store.ts'
import type { Case, Subject } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

function takeFrom({ store }: Subject, from: number, limit: number): Promise<Taken> {
  return store.pool.entries.take('work', { partitions: null, lane: 'normal', from, limit, mayCut: true })
}

const dueAtsOf = ({ runs }: Taken): number[] => runs.map(({ dueAt }) => dueAt - START)

export const takeManyCases: Case[] = [
  {
    title: '[D2] of partitions that hold very different numbers of due runs the earliest come first',
    run: async (place) => {
      const pool = await openPool(place.store, { partitions: 8 })
      const ats = Array.from({ length: 300 }, (_, nth) => (nth * 37) % 301)
      await pool.putAll(
        ats.map((at, nth) => asPut(`k${nth}`, { at: START + at, ...(nth % 10 > 0 && { group: 'crowd' }) })),
      )
      await place.clock.leap(400)
      const all = ats.toSorted((a, b) => a - b)
      const comeFirst = async (limit: number): Promise<void> => {
        const taken = await takeFrom(place, 0, limit)
        const cutAt = (taken.cutAt ?? Infinity) - START
        assert.deepEqual(dueAtsOf(taken), all.filter((at) => at < cutAt).slice(0, limit))
        assert.equal(new Set(taken.runs.map(({ turn }) => turn)).size, taken.runs.length)
        assert.equal((await pool.take({ limit })).length, Math.min(limit, all.length))
        assert.ok(taken.runs.length >= Math.min(limit, all.length) / 4)
      }
      for (const limit of [1, 7, 60, 299, 300, 301]) await comeFirst(limit)
      await pool.putAll(ats.map((_, nth) => asPut(`late-${nth}`, { at: START + 400 })))
      all.push(...ats.map(() => 400))
      for (const limit of [320, 400, 599, 601]) await comeFirst(limit)
    },
  },
  {
    title:
      '[D2] [D5] takes that go on where the limit cut the one before answer every run, the earliest first',
    run: async (place) => {
      const pool = await openPool(place.store, { partitions: 4 })
      // One at each moment, then a hundred, then more than a take may answer.
      const ats = [
        ...Array.from({ length: 600 }, (_, nth) => nth),
        ...Array.from({ length: 800 }, (_, nth) => 650 + Math.floor(nth / 100)),
        ...Array.from({ length: 500 }, () => 700),
      ]
      await pool.putAll(ats.map((at, nth) => asPut(`k${nth}`, { at: START + at })))
      await place.clock.leap(1000)
      for (const limit of [150, 400]) {
        const met = new Map<number, number>()
        let [from, takes] = [START, 0]
        while (from < START + 700) {
          const taken = await takeFrom(place, from, limit)
          assert.ok(taken.runs.length <= limit && taken.nextDueAt === null)
          for (const { turn, dueAt } of taken.runs) met.set(turn, dueAt - START)
          from = cutOf(taken, limit) ?? Infinity
          takes += 1
          assert.ok(takes < 40, 'takes of many runs answer many')
        }
        assert.deepEqual(
          [...met.values()].filter((at) => at < 700),
          ats.slice(0, 1400),
        )
      }
      assert.equal((await takeFrom(place, START + 700, 2000)).runs.length, 500)
    },
  },
  {
    title: '[D2] where one partition holds all that is due a take answers all of it',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { partitions: 8 })
      await pool.putAll(
        Array.from({ length: 150 }, (_, nth) => asPut(`k${nth}`, { at: START + nth, group: 'crowd' })),
      )
      await clock.leap(400)
      for (const limit of [100, 200]) {
        const dueAts = (await pool.take({ limit })).map(({ dueAt }) => dueAt - START)
        assert.deepEqual(
          dueAts,
          Array.from({ length: Math.min(limit, 150) }, (_, nth) => nth),
        )
      }
    },
  },
]
