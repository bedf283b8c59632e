// What must come right again by itself: moves that are called off, calls that fail or come at a bad moment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

test('[A4] V14: a partition whose revoke was withdrawn while its work drained is worked on again', async () => {
  const cluster = new Cluster()
  const first = await cluster.add()
  await cluster.clock.advance(5000)
  const ownership = first.race.roster.share({ name: 'pool/ticks', partitions: 32 })
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const use = ownership.use(() => promise)
  const second = await cluster.add()
  await cluster.clock.advance(600)
  second.kill()
  await cluster.clock.advance(5000)
  resolve(undefined)
  await use
  await cluster.clock.advance(1000)
  assert.equal(first.held().length, 32)
  await cluster.stop()
})

interface HeldBeats {
  isOn: boolean
  /** Lets the beats that wait land: those of one member, or of all. */
  land(member?: string): void
}

/** Beats that wait in the store while that is on, as behind a lock. */
function holdBeats({ store }: Cluster): HeldBeats {
  const waiting: { member: string | undefined; land(): void }[] = []
  const pulse = store.pulse.bind(store)
  const held: HeldBeats = {
    isOn: false,
    land: (member) => {
      for (const beat of waiting) if (member === undefined || beat.member === member) beat.land()
    },
  }
  store.pulse = async (request) => {
    const member = request.beat?.member
    if (held.isOn) await new Promise<void>((land) => waiting.push({ member, land }))
    return pulse(request)
  }
  return held
}

test('[K5] V12: an outage at whose end all beats of the leader land before those of others moves nothing', async () => {
  const cluster = new Cluster()
  const held = holdBeats(cluster)
  for (let nth = 0; nth < 3; nth += 1) await cluster.add()
  await cluster.clock.advance(6000)
  const ids = cluster.members.map(({ race }) => race.roster.id)
  held.isOn = true
  await cluster.clock.advance(4000)
  held.isOn = false
  held.land(cluster.members[0]?.race.roster.leader?.member)
  await cluster.clock.advance(5)
  held.land()
  await cluster.clock.advance(6000)
  assert.deepEqual(
    cluster.members.map(({ race }) => race.roster.id),
    ids,
  )
  await cluster.stop()
})

test('[G1] a resource that comes while its member joins is served', async () => {
  const cluster = new Cluster()
  const { roster } = cluster.store
  const join = roster.join.bind(roster)
  roster.join = async (...given) => {
    await cluster.clock.sleep(100)
    return join(...given)
  }
  const adding = cluster.add()
  await cluster.clock.advance(50)
  const late = cluster.members[0]?.race.own('late')
  await cluster.clock.advance(100)
  await adding
  await cluster.clock.advance(1000)
  assert.equal(late?.claim().held.length, 32)
  await cluster.stop()
})

test('[G1] a resource is served by the next pulse when the store failed at first', async () => {
  const cluster = new Cluster()
  const { roster } = cluster.store
  const serve = roster.serve.bind(roster)
  let calls = 0
  roster.serve = async (...given) => {
    calls += 1
    if (calls === 1) throw new Error('connection reset')
    return serve(...given)
  }
  const member = await cluster.add()
  await cluster.clock.advance(1000)
  const late = member.race.own('late')
  await cluster.clock.advance(1500)
  assert.deepEqual([calls, late.claim().held.length], [2, 32])
  await cluster.stop()
})

test('[G1] [G2] a resource that the roster refuses does not keep its member out', async () => {
  const cluster = new Cluster()
  const [other, member] = [await cluster.add(), await cluster.add()]
  other.race.own('reports', { partitions: 5 })
  await cluster.clock.advance(1000)
  const refused = member.race.own('reports', { partitions: 6 })
  await cluster.clock.advance(1000)
  member.pause()
  await cluster.clock.advance(5000)
  member.resume()
  await cluster.clock.advance(3000)
  assert.deepEqual([member.held().length, refused.claim().held.length], [16, 0])
  await cluster.stop()
})

test('[A6] a fence that rises above a partition that is held is found by the next write, and granted above', async () => {
  const cluster = new Cluster()
  const member = await cluster.add()
  await cluster.clock.advance(1000)
  await cluster.store.fences.raise('pool/ticks', { owner: 'restored', held: [{ partition: 3, epoch: 41 }] })
  await member.race.ticks().pool.put('a')
  await cluster.clock.advance(1500)
  const fences = await cluster.store.fences.fences('pool/ticks')
  assert.deepEqual([member.held().length, fences[3]?.epoch], [32, 42])
  await cluster.stop()
})

test('[T2] a member whose clock is an hour off, or is set so while it waits, moves ticks in time without polling', async () => {
  for (const skewMs of [3_600_000, -3_600_000]) {
    const cluster = new Cluster()
    const { mover } = cluster.store
    const move = mover.move.bind(mover)
    const movedAt: number[] = []
    mover.move = async (request) => {
      const moved = await move(request)
      if (moved.count > 0) movedAt.push(cluster.clock.now())
      calls += 1
      return moved
    }
    let calls = 0
    const member = await cluster.add()
    await cluster.clock.advance(1000)
    const at = cluster.clock.now() + 60_000
    await member.race.ticks().pool.put('a', { at })
    await cluster.clock.advance(1000)
    calls = 0
    member.clock.skewMs = skewMs
    await cluster.clock.advance(60_000)
    assert.equal(movedAt.length, 1)
    const lateMs = (movedAt[0] ?? Infinity) - at
    assert.ok(lateMs >= 0 && lateMs <= 10, `a clock ${skewMs} ms off: ${lateMs} ms late`)
    assert.ok(calls < 10, `${calls} calls`)
    await cluster.stop()
  }
})

test('[H2] a member to whom the store always answers late works on what it has', async () => {
  const cluster = new Cluster()
  const { store } = cluster
  const pulse = store.pulse.bind(store)
  let slow = ''
  store.pulse = async (request) => {
    const answer = await pulse(request)
    if (request.beat?.member === slow) await cluster.clock.sleep(800)
    return answer
  }
  const [, member] = [await cluster.add(), await cluster.add()]
  await cluster.clock.advance(6000)
  slow = member.race.roster.id
  await cluster.clock.advance(30_000)
  assert.deepEqual([member.held().length, member.race.roster.id], [16, slow])
  slow = ''
  await cluster.clock.advance(1000)
  await cluster.stop()
})

test('[H2] what fell due while nothing could be trusted moves with the first answered beat of its owner', async () => {
  const cluster = new Cluster()
  const [first] = [await cluster.add(), await cluster.add()]
  await cluster.clock.advance(6000)
  const { pool } = first.race.ticks()
  const at = cluster.clock.now() + 3200
  for (let nth = 0; nth < 64; nth += 1) await pool.put(`item ${nth}`, { at })
  cluster.isDown = true
  await cluster.clock.advance(4000)
  assert.ok(cluster.members.every((member) => member.held().length === 0))
  cluster.isDown = false
  await cluster.clock.advance(200)
  const { bounds } = await cluster.store.log.topic('ticks')
  assert.equal(
    bounds.reduce((sum, { head }) => sum + head, 0),
    64,
  )
  await cluster.stop()
})
