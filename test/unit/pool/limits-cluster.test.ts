// Limits over several members in virtual time, seen by a witness from outside: never exceeded, whoever dies, is cut off or
// stands still, and used without that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LimitsOptions } from '../../../src/pool/control.ts'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'
import { Witness } from './limits-witness.ts'

interface Crew {
  cluster: Cluster
  witness: Witness
  add(): Promise<ClusterMember>
}

const GROUPS = 20

/** Members whose handlers take a while, and heed their signal. */
function createCrew(handlerMs: number, concurrency = 100): Crew {
  const cluster = new Cluster()
  const witness = new Witness()
  const add = (): Promise<ClusterMember> => {
    const nth = cluster.members.length
    return cluster.add({}, (member) => {
      const { race } = member
      race.work(
        race.pool('work'),
        async ({ key, payload }, { signal }) => {
          const group = String(payload)
          const ended = witness.start({ at: cluster.clock.mono(), key, group, member: nth })
          // Its own clock: what a member that was killed or stands still does not come to its end.
          signal.addEventListener('abort', ended)
          await member.clock.sleep(handlerMs, signal)
          ended()
        },
        { concurrency },
      )
    })
  }
  return { cluster, witness, add }
}

async function putMany(crew: Crew, count: number, groups = GROUPS): Promise<void> {
  const { race } = crew.cluster.members.find(({ isGone }) => !isGone) as ClusterMember
  for (let nth = 0; nth < count; nth += 1000) {
    const puts = Array.from({ length: Math.min(1000, count - nth) }, (_, index) => {
      const group = `g${(nth + index) % groups}`
      return { key: `k${nth + index}`, group, payload: group }
    })
    await race.pool('work').putAll(puts)
  }
}

async function open(limits: LimitsOptions, handlerMs: number, members = 3): Promise<Crew> {
  const crew = createCrew(handlerMs)
  const first = await crew.add()
  await first.race.pool('work').limit(limits)
  for (let nth = 1; nth < members; nth += 1) await crew.add()
  await crew.cluster.clock.advance(6000)
  return crew
}

/** Lets what runs end first: a stop waits for it, and time stands still meanwhile. */
async function end({ cluster }: Crew): Promise<void> {
  const { race } = cluster.members.find(({ isGone }) => !isGone) as ClusterMember
  await race.pool('work').pause()
  await cluster.clock.advance(3000)
  await cluster.stop()
}

const BOTH: LimitsOptions = { group: { concurrency: 5 }, pool: { rate: { count: 50, per: '1s' } } }

test('[L13] [L17] 5 for each group and 50 a second for the pool: three members use nine tenths, and no more', async () => {
  const crew = await open(BOTH, 300)
  const { cluster, witness } = crew
  await putMany(crew, 700)
  const from = cluster.clock.mono() + 2000
  await cluster.clock.advance(12_000)
  assert.ok(witness.mostStarts('pool', 1000) <= 50, `${witness.mostStarts('pool', 1000)}`)
  assert.ok(witness.mostAtOnce('group') <= 5)
  const used = witness.startsBetween(from, from + 10_000)
  assert.ok(used >= 450, `${used} of 500`)
  assert.equal(new Set(witness.starts.map(({ member }) => member)).size, 3)
  await end(crew)
})

test('[L17] [L20] members are killed and others come: 5 for each group and 50 a second are never exceeded', async () => {
  const crew = await open(BOTH, 700)
  const { cluster, witness } = crew
  await putMany(crew, 1000, 8)
  for (let kills = 0; kills < 4; kills += 1) {
    await cluster.clock.advance(3000 + 770 * kills)
    const victim = cluster.members.findIndex(({ isGone }) => !isGone)
    cluster.members[victim]?.kill()
    witness.killed(victim)
    await crew.add()
  }
  await cluster.clock.advance(6000)
  assert.ok(witness.mostStarts('pool', 1000) <= 50, `${witness.mostStarts('pool', 1000)}`)
  assert.ok(witness.mostAtOnce('group') <= 5, `${witness.mostAtOnce('group')}`)
  assert.ok(witness.starts.length > 300, `${witness.starts.length}`)
  await end(crew)
})

test('[L17] [L18] members that are cut off or stand still do not exceed a limit when they return', async () => {
  const crew = await open({ pool: { concurrency: 9, rate: { count: 20, per: '2s' } } }, 400)
  const { cluster, witness } = crew
  await putMany(crew, 500)
  for (let nth = 0; nth < 6; nth += 1) {
    const member = cluster.members[nth % 3] as ClusterMember
    if (nth % 2 === 0) member.isCut = true
    else member.pause()
    // One that stands still notices its abort when it goes on: what it ran until then is counted.
    await cluster.clock.advance(1500 + 900 * nth)
    member.isCut = false
    if (nth % 2 === 1) member.resume()
    await cluster.clock.advance(3000)
  }
  assert.ok(witness.mostStarts('pool', 2000) <= 20, `${witness.mostStarts('pool', 2000)}`)
  assert.ok(witness.starts.length > 200, `${witness.starts.length}`)
  await end(crew)
})

test('[L19] with a limit of one for the pool one runs at a time, and every member has its turn', async () => {
  const crew = await open({ pool: { concurrency: 1 } }, 50)
  const { cluster, witness } = crew
  await putMany(crew, 400)
  const from = cluster.clock.mono()
  await cluster.clock.advance(15_000)
  assert.equal(witness.mostAtOnce('pool'), 1)
  const shares = [0, 1, 2].map((nth) => witness.starts.filter(({ member }) => member === nth).length)
  assert.ok(Math.min(...shares) > 50, shares.join())
  const used = witness.startsBetween(from, from + 15_000)
  assert.ok(used > 250, `${used} of 300`)
  await end(crew)
})

test('[L19] a member that alone has work gets the whole limit', async () => {
  const crew = await open({ pool: { concurrency: 30, rate: { count: 60, per: '1s' } } }, 100)
  const { cluster, witness } = crew
  await putMany(crew, 120)
  await cluster.clock.advance(1000)
  await putMany(crew, 600, 1)
  await cluster.clock.advance(4000)
  const from = cluster.clock.mono()
  await cluster.clock.advance(5000)
  const late = witness.startsBetween(from, from + 5000)
  assert.ok(late >= 270, `${late} of 300`)
  assert.ok(witness.mostStarts('pool', 1000) <= 60)
  await end(crew)
})

test('[L21] a lower limit holds once members have heard of it, and a higher one is used', async () => {
  const crew = await open({ pool: { concurrency: 30 } }, 200)
  const { cluster, witness } = crew
  const pool = (cluster.members[0] as ClusterMember).race.pool('work')
  await putMany(crew, 900)
  await cluster.clock.advance(1500)
  assert.equal(witness.mostAtOnce('pool'), 30)
  await pool.limit({ pool: { concurrency: 4 } })
  await cluster.clock.advance(1000)
  witness.most.clear()
  await cluster.clock.advance(3000)
  assert.equal(witness.mostAtOnce('pool'), 4)
  await pool.limit({ pool: { concurrency: 12 } })
  await cluster.clock.advance(3000)
  assert.equal(witness.mostAtOnce('pool'), 12)
  await end(crew)
})

test('[L12] a pause holds on every member, and for those that come later', async () => {
  const crew = await open({}, 10)
  const { cluster, witness } = crew
  await (cluster.members[0] as ClusterMember).race.pool('work').pause({ by: 'ann' })
  await putMany(crew, 100)
  await crew.add()
  await cluster.clock.advance(30_000)
  assert.equal(witness.starts.length, 0)
  await (cluster.members[1] as ClusterMember).race.pool('work').resume()
  await cluster.clock.advance(2000)
  assert.equal(witness.starts.length, 100)
  await end(crew)
})
