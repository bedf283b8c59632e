// Situations in which the roster is what a key waits for: nobody works, owns, or takes new runs.
import assert from 'node:assert/strict'
import { type Headrace, headrace } from '../../../../src/headrace.ts'
import { partitionOf } from '../../../../src/partition.ts'
import type { Handler } from '../../../../src/pool/run.ts'
import type { Overrides } from '../../../../src/overrides.ts'
import { changed } from '../../open-race.ts'
import { ask, until } from '../serving.ts'
import {
  type Place,
  type Situation,
  type Stage,
  type Told,
  askWhy,
  held,
  joinGhost,
  untilReason,
  untilState,
} from './situation.ts'

const OWNER = { name: 'ghost', address: 'http://ghost:7400' }

export const ofRoster: Situation[] = [
  {
    reason: 'no_consumer',
    title: 'no member works on the pool',
    async bring(stage) {
      const { race, pool, why } = await stage.serve(null)
      await race.store.roster.leave(await joinGhost(race, 'vms'), [])
      await pool.put('k')
      const told = await why('k')
      assert.equal(told['owner'], null)
      return told
    },
  },
  {
    reason: 'partition_unowned',
    title: 'nobody was given its partition yet',
    async bring(stage) {
      const { race, pool, why } = await stage.serve(null, { join: 'no' })
      await joinGhost(race, 'vms')
      await pool.put('k')
      return why('k')
    },
  },
  {
    reason: 'partition_unowned',
    title: 'its owner has said nothing for more than a lease',
    async bring(stage) {
      const shared = await stage.open()
      const { race, pool, why } = await stage.serve(null, { lease: '300ms' }, shared)
      await joinGhost(race, 'vms')
      await pool.put('k')
      await until(async () => (await why('k'))['owner'] !== null, 'an owner')
      await race.stop()
      const other = await stage.serve(null, { join: 'no', lease: '300ms' }, shared)
      const told = await untilReason(() => other.why('k'), 'partition_unowned')
      assert.equal((told['evidence'] as Record<string, unknown>)['owner'], 'ghost')
      return told
    },
  },
  {
    reason: 'unknown',
    title: 'another member owns its partition, and knows',
    async bring(stage) {
      const { race, pool, why } = await stage.serve(null)
      await joinGhost(race, 'vms')
      await pool.put('k')
      const told = await untilReason(() => why('k'), 'unknown')
      assert.deepEqual(told['owner'], OWNER)
      assert.equal(told['next'], 'ask it: headrace why k --pool vms --server http://ghost:7400')
      return told
    },
  },
  {
    reason: 'partition_moving',
    title: 'its partition is to be handed over, and a run of it is under way',
    async bring(stage) {
      const { handler, release } = held()
      const place = await stage.serve({ handler, concurrency: 4 }, { lease: '30s', drainWithin: '5s' })
      const groups = [0, 1, 2, 3].map(groupIn)
      await place.pool.putAll(groups.map((group) => ({ key: `first-${group}`, group })))
      for (const group of groups) await untilState(place, `first-${group}`, 'running')
      await place.pool.putAll(groups.map((group) => ({ key: `second-${group}`, group })))
      await joinGhost(place.race, 'vms')
      place.race.roster.look()
      const told = await untilMoving(place, groups)
      release()
      return told
    },
  },
  {
    reason: 'partition_moving',
    title: 'its partition is being taken over by this member',
    async bring(stage) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const shared = await stage.open(({ fences }) => ({
        fences: changed(fences, {
          async raise(resource, claim) {
            if (resource === 'pool/vms') await promise
            return fences.raise(resource, claim)
          },
        }),
      }))
      const place = await stage.serve({ handler: () => undefined }, {}, shared)
      await place.pool.put('k')
      const told = await untilReason(() => place.why('k'), 'partition_moving')
      assert.match(String(told['sentence']), /taken over by m1/)
      resolve()
      await untilState(place, 'k', 'absent')
      return told
    },
  },
  {
    reason: 'node_draining',
    title: 'its owner drains',
    async bring(stage) {
      const { handler, release } = held()
      const place = await stage.serve({ handler, concurrency: 1 })
      const waiting = await fill(place)
      await ask(place, 'POST', '/v1/roster/members/m1/drain')
      const told = await untilReason(() => place.why(waiting), 'node_draining')
      assert.equal(told['next'], 'headrace roster undrain m1')
      release()
      return told
    },
  },
  {
    reason: 'node_draining',
    title: 'this member stops',
    async bring(stage) {
      const { handler, release } = held()
      const place = await stage.serve({ handler, concurrency: 1 }, { drainWithin: '10s' })
      const waiting = await fill(place)
      const stopped = place.race.stop()
      const told = await untilReason(() => askWhy(place, `pool=vms&key=${waiting}`), 'node_draining')
      assert.match(String(told['sentence']), /stops/)
      release()
      await stopped
      return told
    },
  },
  {
    reason: 'node_draining',
    title: 'its owner, another process that does not answer any more, stops',
    async bring(stage) {
      const { handler, release } = held()
      const shared = await stage.open()
      const owner = await openOwner(stage, handler, shared)
      const place = await stage.serve(null, {}, shared)
      await place.pool.put('first')
      await until(async () => (await owner.why(owner.pool('vms'), 'first')).state === 'running', 'its run')
      await place.pool.put('second')
      const stopped = owner.stop()
      const told = await untilReason(() => place.why('second'), 'node_draining')
      assert.deepEqual([told['next'], told['also']], [null, []])
      assert.match(String(told['sentence']), /owner of its partition, worker, stops/)
      release()
      await stopped
      return told
    },
  },
]

/** A member of its own that works, one run at a time. One that stops has withdrawn its address: it has none here. */
async function openOwner(stage: Stage, handler: Handler, shared: Overrides): Promise<Headrace> {
  const options = { partitions: 4, name: 'worker', drainWithin: '10s' } as const
  const race = await headrace({ store: 'memory:', ...options }, shared)
  stage.after(() => race.stop())
  race.work(race.pool('vms'), handler, { concurrency: 1 })
  await race.start()
  return race
}

/** A group that lives in this partition of four. */
function groupIn(partition: number): string {
  let nth = 0
  while (partitionOf(`g${nth}`, 4) !== partition) nth += 1
  return `g${nth}`
}

/** One of those that move; the others meet a full pool. */
async function untilMoving({ why }: Place, groups: readonly string[]): Promise<Told> {
  let all: Told[] = []
  const isMoving = async (): Promise<boolean> => {
    all = await Promise.all(groups.map((group) => why(`second-${group}`)))
    return all.some(({ reason }) => reason === 'partition_moving')
  }
  await until(isMoving, 'a move')
  assert.ok(all.some(({ reason }) => reason === 'pool_full'))
  return all.find(({ reason }) => reason === 'partition_moving') as Told
}

/** One run is under way on the only handler; answers the key of one that waits for it. */
async function fill(place: Place): Promise<string> {
  await place.pool.put('first')
  await untilState(place, 'first', 'running')
  await place.pool.put('second')
  return 'second'
}
