// The loop that removes old events, over a log that counts and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Retention } from '../../../src/log/retention.ts'
import type { LogStore } from '../../../src/log/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const progress = { sweep: async () => 0 }

/** Runs retention over a topic of which each trim removes so many; an error stands for a trim that fails. */
async function startRetention(removals: (number | Error)[], head = 1) {
  const clock = new VirtualClock()
  const telemetry = createTelemetry(`retention-${removals.join()}`)
  const trimmedAt: number[] = []
  const log: Pick<LogStore, 'topics' | 'trim'> = {
    topics: async () => [
      { name: 't', partitions: 1, retentionMs: 1, bounds: [{ partition: 0, oldest: 0, head }] },
    ],
    trim: async () => {
      trimmedAt.push(clock.mono())
      const removed = removals.shift() ?? 0
      if (removed instanceof Error) throw removed
      return removed
    },
  }
  const told: number[] = []
  const stop = telemetry.on('log.trimmed', ({ events }) => told.push(events))
  const { service } = new Retention({ log, dead: { purge: async () => [] }, progress, clock, telemetry })
  await service.start()
  return { clock, trimmedAt, told, end: () => service.stop().finally(stop) }
}

test('[L5] every minute it trims, and tells what was removed', async () => {
  const { clock, trimmedAt, told, end } = await startRetention([7, 0])
  await clock.advance(120_000)
  assert.deepEqual([trimmedAt, told], [[60_000, 120_000], [7]])
  await end()
})

test('[L5] a topic without events is not asked to trim', async () => {
  const { clock, trimmedAt, end } = await startRetention([], 0)
  await clock.advance(120_000)
  assert.deepEqual(trimmedAt, [])
  await end()
})

test('[L5] it goes on while there is more, with a pause between, so that others have their turn', async () => {
  const { clock, trimmedAt, told, end } = await startRetention([2000, 2000, 5])
  await clock.advance(61_000)
  assert.deepEqual(
    [trimmedAt, told],
    [
      [60_000, 60_050, 60_100],
      [2000, 2000, 5],
    ],
  )
  await end()
})

test('[L5] a trim that failed is tried again a minute later', async () => {
  const { clock, trimmedAt, told, end } = await startRetention([new Error('busy'), 3])
  await clock.advance(120_000)
  assert.deepEqual([trimmedAt, told], [[60_000, 120_000], [3]])
  await end()
})

test('[L5] a stop in the pause ends it, and leaves no timer', async () => {
  const { clock, trimmedAt, end } = await startRetention([2000, 2000])
  await clock.advance(60_020)
  await end()
  assert.deepEqual([trimmedAt, clock.pending], [[60_000], 0])
})

test('[Z4] records of deaths that are kept no longer go in bounded pieces, and it tells of which pools', async () => {
  const clock = new VirtualClock()
  const telemetry = createTelemetry('retention-of-deaths')
  const purged = [
    [
      { pool: 'a', deaths: 300 },
      { pool: 'b', deaths: 200 },
    ],
    [{ pool: 'b', deaths: 7 }],
  ]
  const asked: number[] = []
  const dead = {
    purge: async (limit: number) => {
      asked.push(limit)
      return purged.shift() ?? []
    },
  }
  const told: string[] = []
  const stop = telemetry.on('dead.purged', ({ pool, deaths }) => told.push(`${pool} ${deaths}`))
  const log = { topics: async () => Promise.reject(new Error('no log')), trim: async () => 0 }
  const { service } = new Retention({ log, dead, progress, clock, telemetry })
  await service.start()
  await clock.advance(60_100)
  assert.deepEqual(
    [asked, told],
    [
      [500, 500],
      ['a 300', 'b 200', 'b 7'],
    ],
  )
  await service.stop()
  stop()
})
