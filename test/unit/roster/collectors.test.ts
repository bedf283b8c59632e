// Outside collectors on the memory store and virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { START } from '../../../src/testing/virtual-clock.ts'
import { LEASE_MS, type Shares, openShares, residuesOf } from './open-shares.ts'

const share = 'vms'

/** Some collectors that joined, and all that the leader gave them. */
async function joinMany({ collectors, lead }: Shares, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let nth = 0; nth < count; nth += 1) ids.push((await collectors.join(share, { name: `c${nth}` })).id)
  await lead()
  return ids
}

async function askAll({ collectors }: Shares, ids: string[]): Promise<number[][]> {
  const shares = await Promise.all(ids.map((id) => collectors.ask({ share, id })))
  return shares.map(({ filter }) => residuesOf(filter))
}

test('[Q4] a collector joins with nothing, and the leader allots to it as to others', async () => {
  const shares = await openShares()
  const { collectors, store, lead } = shares
  const { id, ...joined } = await collectors.join(share)
  const lease = { leaseMs: LEASE_MS, expiresAt: START + LEASE_MS }
  assert.deepEqual(joined, { filter: null, by: 'id', partitions: 32, epoch: 0, ...lease })
  const member = (await store.roster.view()).members.find((known) => known.id === id)
  assert.deepEqual([member?.leads, member?.serves, member?.weight], [false, ['share/id/vms'], 1])
  await lead()
  const asked = await collectors.ask({ share, id })
  assert.deepEqual(asked, { id, filter: '32%0-31', by: 'id', partitions: 32, epoch: 32, ...lease })
})

test('[Q4] residues go by weight, and a share keeps the number of its first mention', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const heavy = await collectors.join(share, { partitions: 8, weight: 3 })
  const light = await collectors.join(share)
  assert.equal(light.partitions, 8)
  await assert.rejects(collectors.join(share, { partitions: 9 }), { code: 'resource_mismatch' })
  await lead()
  const counts = (await askAll(shares, [heavy.id, light.id])).map(({ length }) => length)
  assert.deepEqual(counts, [6, 2])
})

test('[Q3] a collector that divides otherwise is refused while others are there', async () => {
  const { collectors } = await openShares()
  const { id } = await collectors.join(share, { by: 'hash' })
  await assert.rejects(collectors.join(share, { by: 'id' }), {
    code: 'resource_mismatch',
    remedy: /"by": "hash"/,
  })
  await assert.rejects(collectors.ask({ share, id }, 'id'), { code: 'resource_mismatch' })
  assert.equal((await collectors.ask({ share, id }, 'hash')).by, 'hash')
  await collectors.leave({ share, id })
  assert.equal((await collectors.join(share, { by: 'id' })).by, 'id')
  assert.equal((await collectors.view(share)).by, 'id')
})

test('[Q3] of two that joined unseen by each other the later is refused its share', async () => {
  const { collectors, store, clock } = await openShares()
  const { id: first } = await collectors.join(share)
  await clock.leap(1)
  const said = { name: 'x', address: null, version: '0', weight: 1, concurrency: 1, leads: false }
  const resource = { name: 'share/hash/vms', partitions: 32 }
  await store.roster.join({ id: 'later', ...said, serves: [resource.name] }, [resource])
  await assert.rejects(collectors.ask({ share, id: 'later' }), { code: 'resource_mismatch' })
  assert.equal((await collectors.ask({ share, id: first })).by, 'id')
})

test('[Q5] a heartbeat and an ask move the expiry', async () => {
  const shares = await openShares()
  const { collectors, clock } = shares
  const [id = ''] = await joinMany(shares, 1)
  await clock.leap(1000)
  assert.equal((await collectors.heartbeat({ share, id })).expiresAt, START + 1000 + LEASE_MS)
  await clock.leap(500)
  assert.equal((await collectors.ask({ share, id })).expiresAt, START + 1500 + LEASE_MS)
})

test('[Q5] a collector that is silent for a lease loses its residues to the others, and is told to join again', async () => {
  const shares = await openShares()
  const { collectors, clock, lead } = shares
  const ids = await joinMany(shares, 3)
  const [a = '', b = '', silent = ''] = ids
  const before = await askAll(shares, ids)
  assert.deepEqual(
    before.map(({ length }) => length),
    [11, 11, 10],
  )
  for (let nth = 0; nth < 7; nth += 1) {
    await clock.leap(500)
    for (const id of [a, b]) await collectors.heartbeat({ share, id })
    await lead()
  }
  const after = await askAll(shares, [a, b])
  assert.deepEqual(
    after.flat().toSorted((x, y) => x - y),
    Array.from({ length: 32 }, (_, nth) => nth),
  )
  for (const nth of [0, 1])
    assert.deepEqual(
      before[nth]?.filter((residue) => !after[nth]?.includes(residue)),
      [],
    )
  const remedy = /join again/
  for (const call of [
    () => collectors.ask({ share, id: silent }),
    () => collectors.heartbeat({ share, id: silent }),
    () => collectors.finished({ share, id: silent }, { took: 1, had: 1 }),
    () => collectors.leave({ share, id: silent }),
  ]) {
    await assert.rejects(call, { code: 'collector_unknown', remedy })
  }
})

test('[Q5] an id that is no collector of the share is neither kept alive nor removed', async () => {
  const shares = await openShares()
  const { collectors, store, clock } = shares
  const other = await collectors.join('other')
  await clock.leap(100)
  const before = await store.roster.view()
  for (const id of ['leader', other.id, 'nobody', '']) {
    const key = { share, id }
    await assert.rejects(collectors.heartbeat(key), { code: 'collector_unknown' })
    await assert.rejects(collectors.ask(key), { code: 'collector_unknown' })
    await assert.rejects(collectors.leave(key), { code: 'collector_unknown' })
  }
  assert.deepEqual(await store.roster.view(), before)
})

test('[Q6] what is revoked is handed over when its collector asks, and not before', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const [a = ''] = await joinMany(shares, 1)
  await collectors.ask({ share, id: a })
  const { id: b } = await collectors.join(share)
  await lead()
  assert.deepEqual(await askAll(shares, [b]), [[]])
  const { filter } = await collectors.heartbeat({ share, id: a })
  assert.equal(residuesOf(filter).length, 16)
  await collectors.heartbeat({ share, id: a }, '32%0-31')
  assert.deepEqual(await askAll(shares, [b]), [[]])
  const [ofA = [], ofB = []] = [...(await askAll(shares, [a])), ...(await askAll(shares, [b]))]
  assert.deepEqual([ofA, ofA.length, ofB.length], [residuesOf(filter), 16, 16])
  assert.deepEqual(new Set([...ofA, ...ofB]).size, 32)
})

test('[Q6] a heartbeat that names its filter hands over what is revoked and not in it', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const [a = ''] = await joinMany(shares, 1)
  const { id: b } = await collectors.join(share)
  await lead()
  const { filter } = await collectors.heartbeat({ share, id: a })
  const wider = `${filter},${residuesOf('32%0-31').find((one) => !residuesOf(filter).includes(one))}`
  await collectors.heartbeat({ share, id: a }, `${wider};type:vm`)
  assert.deepEqual((await askAll(shares, [b]))[0]?.length, 15)
  await collectors.heartbeat({ share, id: a }, 'type:vm')
  assert.deepEqual((await askAll(shares, [b]))[0]?.length, 15)
  await collectors.heartbeat({ share, id: a }, filter ?? '')
  assert.deepEqual((await askAll(shares, [b]))[0]?.length, 16)
  const refused = { code: 'invalid_input' }
  await assert.rejects(collectors.heartbeat({ share, id: a }, '16%0'), {
    ...refused,
    message: /has 32 residues/,
  })
  await assert.rejects(collectors.heartbeat({ share, id: a }, 'all'), { ...refused, message: /character 1/ })
})

test('[Q7] whoever is answered a residue after another has a higher epoch', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const [a = ''] = await joinMany(shares, 1)
  const first = await collectors.ask({ share, id: a })
  const { id: b } = await collectors.join(share)
  await lead()
  await collectors.ask({ share, id: a })
  const taken = await collectors.ask({ share, id: b })
  assert.ok(taken.epoch > first.epoch)
  await collectors.leave({ share, id: b })
  const back = await collectors.ask({ share, id: a })
  assert.equal(residuesOf(back.filter).length, 32)
  assert.ok(back.epoch > taken.epoch)
})

test('[Q8] a collector that leaves hands over at once, without a leader', async () => {
  const shares = await openShares()
  const { collectors } = shares
  const [a = '', b = '', c = ''] = await joinMany(shares, 3)
  assert.equal(await collectors.leave({ share, id: c }), 10)
  const all = (await askAll(shares, [a, b])).map(({ length }) => length)
  assert.deepEqual(all, [16, 16])
  await assert.rejects(collectors.ask({ share, id: c }), { code: 'collector_unknown' })
})

test('an idle fleet costs one call of the store for each heartbeat', async () => {
  const shares = await openShares()
  const { collectors, store } = shares
  const ids = await joinMany(shares, 3)
  await askAll(shares, ids)
  let views = 0
  const { view } = store.roster
  store.roster.view = () => {
    views += 1
    return view.call(store.roster)
  }
  for (let nth = 0; nth < 10; nth += 1) for (const id of ids) await collectors.heartbeat({ share, id })
  assert.equal(views, 0)
})
