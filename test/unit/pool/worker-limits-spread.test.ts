// Rates whose starts are spaced, as one worker keeps them, and several members together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LimitsOptions } from '../../../src/pool/control.ts'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'
import { Witness } from './limits-witness.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

const SPREAD = { count: 4, per: '1s', spread: true } as const

/** How long after the one before each start came, under these limits. */
async function gapsOf(limits: LimitsOptions, groupOf: (nth: number) => string): Promise<number[]> {
  const { handler, calls } = waitingHandler()
  const opened = await openWorker(handler, { concurrency: 20 })
  const { clock, pool, worker } = opened
  await pool.limit(limits)
  await pool.putAll(Array.from({ length: 8 }, (_, nth) => ({ key: `k${nth}`, group: groupOf(nth) })))
  const starts: number[] = []
  for (let ms = 0; ms < 3000; ms += 1) {
    await clock.advance(1)
    while (starts.length < calls.length) starts.push(clock.mono())
  }
  for (const { end } of calls) end()
  await clock.advance(1000)
  for (const { end } of calls) end()
  await clock.advance(10)
  await worker.service.stop()
  return starts.slice(1).map((at, nth) => at - (starts[nth] ?? 0))
}

test('[L22] starts of a group with a rate that is spread are `per`/`count` apart', async () => {
  const gaps = await gapsOf({ group: { rate: SPREAD } }, () => 'g')
  assert.equal(gaps.length, 7)
  for (const gap of gaps) assert.ok(gap >= 250 && gap <= 252, gaps.join())
})

test('[L22] groups are spaced each by itself', async () => {
  const gaps = await gapsOf({ group: { rate: SPREAD } }, (nth) => `g${nth % 2}`)
  assert.equal(gaps.filter((gap) => gap === 0).length, 4)
})

test('[L22] a group whose pace is faster than timers reaches its rate', async () => {
  const gaps = await gapsOf({ group: { rate: { count: 400, per: '1s', spread: true } } }, () => 'g')
  assert.equal(gaps.length, 7)
  assert.deepEqual(gaps.slice(0, 4), [0, 0, 0, 3])
})

test('[L22] starts of a pool with a rate that is spread are `per`/`count` apart on a member that has all of it', async () => {
  const gaps = await gapsOf({ pool: { rate: SPREAD } }, (nth) => `g${nth}`)
  assert.ok(gaps.length >= 5, `${gaps.length}`)
  for (const gap of gaps) assert.ok(gap >= 250, gaps.join())
  for (const gap of gaps.slice(2)) assert.ok(gap <= 252, gaps.join())
})

test('[L14] a rate that is not spread starts all that may at once', async () => {
  const gaps = await gapsOf({ group: { rate: { count: 4, per: '1s' } } }, () => 'g')
  assert.deepEqual(gaps.slice(0, 3), [0, 0, 0])
})

test('[L17] [L22] three members share 50 a second: no more start in 100 ms than 5 and one for each member', async () => {
  const cluster = new Cluster()
  const witness = new Witness()
  for (let nth = 0; nth < 3; nth += 1) {
    const { race } = await cluster.add({}, (member) => {
      member.race.work(member.race.pool('work'), ({ key }) => {
        witness.start({ at: cluster.clock.mono(), key, group: key, member: nth })()
      })
    })
    if (nth === 0) await race.pool('work').limit({ pool: { rate: { count: 50, per: '1s', spread: true } } })
  }
  await cluster.clock.advance(6000)
  const { race } = cluster.members[0] as ClusterMember
  await race.pool('work').putAll(Array.from({ length: 600 }, (_, nth) => ({ key: `k${nth}` })))
  const from = cluster.clock.mono() + 2000
  await cluster.clock.advance(10_000)
  assert.ok(witness.mostStarts('pool', 100) <= 8, `${witness.mostStarts('pool', 100)} in 100 ms`)
  assert.ok(witness.mostStarts('pool', 1000) <= 50, `${witness.mostStarts('pool', 1000)} in 1 s`)
  const used = witness.startsBetween(from, from + 8000)
  assert.ok(used >= 340, `${used} of 400`)
  await cluster.stop()
})
