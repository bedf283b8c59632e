// Shares that nobody collects: removed by the leader, removed on request, and bounded in number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Collectors } from '../../../src/roster/collectors.ts'
import { idleShares } from '../../../src/roster/idle-shares.ts'
import { SHARE_IDLE_MS } from '../../../src/roster/share.ts'
import type { RosterStore } from '../../../src/roster/store.ts'
import { Cluster } from '../../../src/testing/cluster.ts'
import { LEASE_MS, openShares } from './open-shares.ts'
import { NOW, allotment, member, view } from './sample-view.ts'

const MINUTE = 60_000

function collectorsOf({ store, clock }: Cluster): Collectors {
  return new Collectors({ store, clock, leaseMs: LEASE_MS })
}

async function sharesOf({ store }: Cluster): Promise<string[]> {
  const { resources, allotments } = await store.roster.view()
  const names = [...resources.map(({ name }) => name), ...allotments.map(({ resource }) => resource)]
  return [...new Set(names)].filter((name) => name.startsWith('share/'))
}

test('[Q11] the leader removes a share ten minutes after its last collector left', async () => {
  const cluster = new Cluster()
  await cluster.add()
  const collectors = collectorsOf(cluster)
  const { id } = await collectors.join('vms')
  await cluster.clock.advance(1000)
  await collectors.leave({ share: 'vms', id })
  await cluster.clock.advance(9 * MINUTE)
  assert.deepEqual(await sharesOf(cluster), ['share/id/vms'])
  await cluster.clock.advance(MINUTE + 2000)
  assert.deepEqual(await sharesOf(cluster), [])
  await assert.rejects(collectors.view('vms'), { code: 'share_unknown' })
  await cluster.stop()
})

test('[Q11] a share whose collector died is removed too, and one that is joined again in time is not', async () => {
  const cluster = new Cluster()
  await cluster.add()
  const collectors = collectorsOf(cluster)
  await collectors.join('dead')
  await collectors.join('back')
  await cluster.clock.advance(9 * MINUTE)
  const { id } = await collectors.join('back')
  for (let passed = 0; passed < 3 * MINUTE; passed += 1000) {
    await cluster.clock.advance(1000)
    await collectors.heartbeat({ share: 'back', id })
  }
  assert.deepEqual(await sharesOf(cluster), ['share/id/back'])
  assert.equal((await collectors.view('back')).unserved, 0)
  await cluster.stop()
})

test('[Q7] the epoch of a share that was removed and begun again is above all of before', async () => {
  const { collectors, lead } = await openShares()
  const { id } = await collectors.join('vms')
  await lead()
  const before = await collectors.read({ share: 'vms', id })
  await collectors.leave({ share: 'vms', id })
  assert.equal(await collectors.remove('vms'), 32)
  const again = await collectors.join('vms', { partitions: 4 })
  await lead()
  const after = await collectors.read({ share: 'vms', id: again.id })
  assert.ok(after.epoch > before.epoch, `${after.epoch} after ${before.epoch}`)
})

test('[Q12] one share, one residue or one collector more than there may be is refused', async () => {
  const { collectors } = await openShares()
  await Promise.all(
    Array.from({ length: 7 }, (_, nth) => collectors.join(`large${nth}`, { partitions: 1024 })),
  )
  const most = await Promise.allSettled(
    Array.from({ length: 300 }, (_, nth) => collectors.join(`small${nth}`, { partitions: 1 })),
  )
  assert.equal(most.filter(({ status }) => status === 'fulfilled').length, 249)
  const refusal = { code: 'shares_full', message: /256 shares/, remedy: /DELETE \/v1\/shares\/NAME/ }
  await assert.rejects(collectors.join('new', { partitions: 1 }), refusal)
  await collectors.join('small0')
  const { id } = await collectors.join('small1')
  await collectors.leave({ share: 'small1', id })
  assert.equal((await collectors.list()).length, 256)
})

test('[Q12] residues and collectors have a bound of their own', async () => {
  const { collectors } = await openShares()
  for (let nth = 0; nth < 8; nth += 1) await collectors.join(`large${nth}`, { partitions: 1024 })
  await assert.rejects(collectors.join('new', { partitions: 1 }), { code: 'shares_full', message: /8192/ })
  const joins = Array.from({ length: 1000 }, () => collectors.join('large0'))
  const most = await Promise.allSettled(joins)
  assert.equal(most.filter(({ status }) => status === 'fulfilled').length, 992)
  await assert.rejects(collectors.join('large0'), { code: 'shares_full', message: /1000 collectors/ })
})

test('[Q12] a crowd of requests reads the roster one at a time, and few times', async () => {
  const { store, clock } = await openShares()
  let reads = 0
  const roster = new Proxy(store.roster, {
    get: (target, name) => {
      if (name === 'view') reads += 1
      const method = target[name as keyof RosterStore] as (...given: unknown[]) => unknown
      return method.bind(target)
    },
  })
  const collectors = new Collectors({
    store: { roster, pulse: (asked) => store.pulse(asked) },
    clock,
    leaseMs: 3000,
  })
  await Promise.all(Array.from({ length: 200 }, () => collectors.list()))
  assert.ok(reads <= 2, `${reads} reads`)
  for (let nth = 0; nth < 8; nth += 1) await collectors.join(`large${nth}`, { partitions: 1024 })
  reads = 0
  for (let nth = 0; nth < 200; nth += 1) {
    await assert.rejects(collectors.join(`new${nth}`), { code: 'shares_full' })
  }
  assert.ok(reads <= 2, `${reads} reads for joins that are refused`)
})

test('[Q11] marks in the future, of shares that are served, and allotments without a share are mended', () => {
  const served = member('c', { serves: ['share/id/served'] })
  const seen = view([member('a'), served], [allotment(0, 'gone', { resource: 'share/id/orphan' })], {
    resources: ['future', 'served', 'old', 'young', 'new'].map((name) => ({
      name: `share/id/${name}`,
      partitions: 1,
    })),
    idle: {
      'share/id/future': NOW + 1,
      'share/id/served': NOW - 1,
      'share/id/old': NOW - SHARE_IDLE_MS,
      'share/id/young': NOW - 1,
    },
  })
  assert.deepEqual(idleShares(seen), {
    idle: ['share/id/future', 'share/id/new'],
    busy: ['share/id/served'],
    expired: ['share/id/old', 'share/id/orphan'],
    nextAt: NOW - 1 + SHARE_IDLE_MS,
  })
})
