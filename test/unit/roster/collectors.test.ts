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

async function readAll({ collectors }: Shares, ids: string[]): Promise<number[][]> {
  const shares = await Promise.all(ids.map((id) => collectors.read({ share, id })))
  return shares.map(({ filter }) => residuesOf(filter))
}

/** A collector releases all that it must. */
async function releaseAll({ collectors }: Shares, id: string): Promise<void> {
  const told = await collectors.read({ share, id })
  await collectors.heartbeat({ share, id }, told.release ?? undefined)
}

test('[Q4] a collector joins with nothing, and the leader allots to it as to others', async () => {
  const shares = await openShares()
  const { collectors, store, lead } = shares
  const { id, ...joined } = await collectors.join(share)
  const lease = { leaseMs: LEASE_MS, expiresAt: START + LEASE_MS }
  assert.deepEqual(joined, { filter: null, release: null, by: 'id', partitions: 32, epoch: 0, ...lease })
  const member = (await store.roster.view()).members.find((known) => known.id === id)
  assert.deepEqual([member?.leads, member?.serves, member?.weight], [false, ['share/id/vms'], 1])
  await lead()
  const read = await collectors.read({ share, id })
  const told = { id, filter: '32%0-31', release: null, by: 'id', partitions: 32, epoch: 32, ...lease }
  assert.deepEqual(read, told)
})

test('[Q4] residues go by weight, and a share keeps the number of its first mention', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const heavy = await collectors.join(share, { partitions: 8, weight: 3 })
  const light = await collectors.join(share)
  assert.equal(light.partitions, 8)
  await assert.rejects(collectors.join(share, { partitions: 9 }), { code: 'resource_mismatch' })
  await lead()
  const counts = (await readAll(shares, [heavy.id, light.id])).map(({ length }) => length)
  assert.deepEqual(counts, [6, 2])
})

test('[Q3] a collector that divides otherwise is refused while others are there', async () => {
  const { collectors } = await openShares()
  const { id } = await collectors.join(share, { by: 'hash' })
  await assert.rejects(collectors.join(share, { by: 'id' }), {
    code: 'resource_mismatch',
    remedy: /"by": "hash"/,
  })
  await assert.rejects(collectors.read({ share, id }, 'id'), { code: 'resource_mismatch' })
  assert.equal((await collectors.read({ share, id }, 'hash')).by, 'hash')
  await collectors.leave({ share, id })
  assert.equal((await collectors.join(share, { by: 'id' })).by, 'id')
  assert.equal((await collectors.view(share)).by, 'id')
})

test('[Q3] of two that joined unseen by each other the later is refused its share', async () => {
  const { collectors, store, clock } = await openShares()
  const { id: first } = await collectors.join(share)
  await clock.leap(1)
  const said = {
    name: 'x',
    address: null,
    version: '0',
    weight: 1,
    concurrency: 1,
    leaseMs: 3000,
    leads: false,
  }
  const resource = { name: 'share/hash/vms', partitions: 32 }
  await store.roster.join({ id: 'later', ...said, serves: [resource.name] }, [resource])
  await assert.rejects(collectors.read({ share, id: 'later' }), { code: 'resource_mismatch' })
  assert.equal((await collectors.read({ share, id: first })).by, 'id')
})

test('[Q5] a heartbeat moves the expiry, and to read a share changes nothing', async () => {
  const shares = await openShares()
  const { collectors, store, clock, lead } = shares
  const [id = ''] = await joinMany(shares, 1)
  await clock.leap(1000)
  assert.equal((await collectors.heartbeat({ share, id })).expiresAt, START + 1000 + LEASE_MS)
  await collectors.join(share)
  await lead()
  await clock.leap(500)
  const before = await store.roster.view()
  const read = await collectors.read({ share, id })
  assert.equal(read.expiresAt, START + 1000 + LEASE_MS)
  assert.ok(read.release !== null)
  assert.deepEqual(await store.roster.view(), before)
})

test('[Q5] a collector that is silent for a lease loses its residues to the others, and is told to join again', async () => {
  const shares = await openShares()
  const { collectors, clock, lead } = shares
  const ids = await joinMany(shares, 3)
  const [a = '', b = '', silent = ''] = ids
  const before = await readAll(shares, ids)
  assert.deepEqual(
    before.map(({ length }) => length),
    [11, 11, 10],
  )
  for (let nth = 0; nth < 7; nth += 1) {
    await clock.leap(500)
    for (const id of [a, b]) await collectors.heartbeat({ share, id })
    await lead()
  }
  const after = await readAll(shares, [a, b])
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
    () => collectors.read({ share, id: silent }),
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
    await assert.rejects(collectors.read(key), { code: 'collector_unknown' })
    await assert.rejects(collectors.leave(key), { code: 'collector_unknown' })
  }
  assert.deepEqual(await store.roster.view(), before)
})

test('[Q6] what is revoked is handed over when its collector releases it, and not before', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const [a = ''] = await joinMany(shares, 1)
  const { id: b } = await collectors.join(share)
  await lead()
  const { filter, release } = await collectors.heartbeat({ share, id: a })
  assert.equal(residuesOf(filter).length, 16)
  assert.deepEqual(await collectors.read({ share, id: a }).then((read) => [read.filter, read.release]), [
    filter,
    release,
  ])
  assert.deepEqual(await readAll(shares, [b]), [[]])
  const [first = '', ...rest] = release?.split(',') ?? []
  const told = await collectors.heartbeat({ share, id: a }, first)
  assert.deepEqual([told.filter, told.release], [filter, rest.join()])
  assert.deepEqual((await readAll(shares, [b]))[0]?.length, 1)
  assert.equal((await collectors.heartbeat({ share, id: a }, release ?? '')).release, null)
  const [ofA = [], ofB = []] = await readAll(shares, [a, b])
  assert.deepEqual([ofA, ofB.length, new Set([...ofA, ...ofB]).size], [residuesOf(filter), 16, 32])
})

test('[Q6] a heartbeat that comes late, or twice, hands over nothing that was granted since', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const [a = ''] = await joinMany(shares, 1)
  const { id: b } = await collectors.join(share)
  await lead()
  const late = (await collectors.read({ share, id: a })).release ?? ''
  await collectors.heartbeat({ share, id: a }, late)
  await collectors.leave({ share, id: b })
  assert.equal((await readAll(shares, [a]))[0]?.length, 32)
  const { id: c } = await collectors.join(share)
  await lead()
  await collectors.heartbeat({ share, id: a }, late)
  assert.deepEqual(await readAll(shares, [c]), [[]])
  await releaseAll(shares, a)
  assert.equal((await readAll(shares, [c]))[0]?.length, 16)
})

test('[Q6] a release that cannot be understood is refused, and what is not revoked stays', async () => {
  const shares = await openShares()
  const { collectors, store } = shares
  const [a = ''] = await joinMany(shares, 1)
  for (const text of ['', '32%0-7', '1', '1@', '@1', '1@1,', '1@1,x', '1@-1', '12345@1']) {
    await assert.rejects(collectors.heartbeat({ share, id: a }, text), {
      code: 'invalid_input',
      remedy: /release/,
    })
  }
  const before = (await store.roster.view()).allotments
  await collectors.heartbeat({ share, id: a }, '0@1,1@1,1000@1')
  assert.deepEqual((await store.roster.view()).allotments, before)
})

test('[Q7] whoever is answered a residue after another has a higher epoch', async () => {
  const shares = await openShares()
  const { collectors, lead } = shares
  const [a = ''] = await joinMany(shares, 1)
  const first = await collectors.read({ share, id: a })
  const { id: b } = await collectors.join(share)
  await lead()
  await releaseAll(shares, a)
  const taken = await collectors.read({ share, id: b })
  assert.ok(taken.epoch > first.epoch)
  await collectors.leave({ share, id: b })
  const back = await collectors.read({ share, id: a })
  assert.equal(residuesOf(back.filter).length, 32)
  assert.ok(back.epoch > taken.epoch)
})

test('[Q8] a collector that leaves hands over at once, without a leader', async () => {
  const shares = await openShares()
  const { collectors } = shares
  const [a = '', b = '', c = ''] = await joinMany(shares, 3)
  assert.equal(await collectors.leave({ share, id: c }), 10)
  const all = (await readAll(shares, [a, b])).map(({ length }) => length)
  assert.deepEqual(all, [16, 16])
  await assert.rejects(collectors.read({ share, id: c }), { code: 'collector_unknown' })
})

test('an idle fleet costs one call of the store for each heartbeat', async () => {
  const shares = await openShares()
  const { collectors, store } = shares
  const ids = await joinMany(shares, 3)
  await readAll(shares, ids)
  let views = 0
  const { view } = store.roster
  store.roster.view = () => {
    views += 1
    return view.call(store.roster)
  }
  for (let nth = 0; nth < 10; nth += 1) for (const id of ids) await collectors.heartbeat({ share, id })
  assert.equal(views, 0)
})
