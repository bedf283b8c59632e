// Workers of several members in virtual time: one dies, is cut off or stands still, and the others do its work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'
import { type Call, waitingHandler } from './open-worker.ts'

interface Crew {
  cluster: Cluster
  members: ClusterMember[]
  /** The calls of each member's handler. */
  calls: Call[][]
}

/** Members whose handlers wait, with one run under way for each of many keys. */
async function startCrew(size: number): Promise<Crew> {
  const cluster = new Cluster()
  const calls: Call[][] = []
  const members: ClusterMember[] = []
  for (let nth = 0; nth < size; nth += 1) {
    const waiting = waitingHandler()
    calls.push(waiting.calls)
    const work = ({ race }: ClusterMember): void =>
      void race.work(race.pool('work'), waiting.handler, { concurrency: 100 })
    members.push(await cluster.add({}, work))
  }
  await cluster.clock.advance(6000)
  await members[0]?.race.pool('work').putAll(Array.from({ length: 30 }, (_, n) => ({ key: `k${n}` })))
  await cluster.clock.advance(1000)
  return { cluster, members, calls }
}

const keysOf = (calls: readonly Call[] | undefined): string[] =>
  (calls ?? []).map(({ run }) => run.key).toSorted()

async function left({ cluster, members }: Crew): Promise<number> {
  await cluster.clock.advance(100)
  const {
    waiting,
    due,
    dead,
    'backing-off': backingOff,
  } = await (members.find(({ isGone }) => !isGone) as ClusterMember).race.pool('work').count()
  return waiting + due + dead + backingOff
}

test('[X1] members share the keys, and what a killed one had under way is run by others under later epochs', async () => {
  const crew = await startCrew(3)
  const { cluster, members, calls } = crew
  assert.equal(calls.flat().length, 30)
  const lost = calls[0] ?? []
  assert.ok(lost.length > 0 && lost.length < 30)
  const epochs = new Map(lost.map(({ run, ctx }) => [run.key, ctx.fence.epoch]))
  members[0]?.kill()
  const before = [calls[1]?.length ?? 0, calls[2]?.length ?? 0]
  await cluster.clock.advance(6000)
  const again = [...(calls[1]?.slice(before[0]) ?? []), ...(calls[2]?.slice(before[1]) ?? [])]
  assert.deepEqual(keysOf(again), keysOf(lost))
  assert.ok(again.every(({ run, ctx }) => ctx.fence.epoch > (epochs.get(run.key) ?? Infinity)))
  assert.ok(again.every(({ ctx }) => ctx.attempt === 1))
  for (const { end } of calls.slice(1).flat()) end()
  assert.equal(await left(crew), 0)
  await cluster.stop()
})

test('[X16] a member that is cut off aborts what it runs before others run it, and settles none of it', async () => {
  const crew = await startCrew(2)
  const { cluster, members, calls } = crew
  const [cut, other] = members
  assert.ok(cut !== undefined && other !== undefined)
  const signals = (calls[0] ?? []).map(({ ctx }) => ctx.signal)
  cut.isCut = true
  await cluster.clock.advance(2600)
  assert.ok(signals.every(({ aborted }) => aborted))
  assert.equal(calls.flat().length, 30)
  for (const { end } of calls[0] ?? []) end()
  await cluster.clock.advance(6000)
  assert.equal(calls.flat().length, 30 + signals.length)
  cut.isCut = false
  await cluster.clock.advance(5000)
  assert.equal(await left(crew), 30)
  for (const { end } of calls.flat()) end()
  await cluster.clock.advance(3000)
  assert.equal(await left(crew), 0)
  await cluster.stop()
})

test('[X15] a member that stood still past its lease settles nothing when it goes on', async () => {
  const crew = await startCrew(2)
  const { cluster, members, calls } = crew
  const [paused, other] = members
  assert.ok(paused !== undefined && other !== undefined)
  const had = keysOf(calls[0])
  paused.pause()
  for (const { end } of calls[0] ?? []) end()
  await cluster.clock.advance(8000)
  assert.deepEqual(
    keysOf(calls[1]).filter((key) => had.includes(key)),
    had,
  )
  paused.resume()
  await cluster.clock.advance(2000)
  assert.equal(await left(crew), 30)
  for (const { end } of calls.flat()) end()
  await cluster.clock.advance(3000)
  assert.equal(await left(crew), 0)
  await cluster.stop()
})
