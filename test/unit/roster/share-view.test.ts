// What is told of a share: its collectors, what they reported, and how many there should be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Reports } from '../../../src/roster/reports.ts'
import { WINDOW_MS } from '../../../src/roster/workers.ts'
import { START, VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { LEASE_MS, openShares } from './open-shares.ts'

const share = 'vms'

test('a share tells its collectors, their filters, and what nobody collects', async () => {
  const { collectors, lead } = await openShares()
  await assert.rejects(collectors.view(share), { code: 'share_unknown', remedy: /POST/ })
  const { id } = await collectors.join(share, { name: 'host:1', weight: 2, partitions: 4 })
  assert.deepEqual([(await collectors.view(share)).unserved, (await collectors.view(share)).epoch], [4, 0])
  await lead()
  const { id: second } = await collectors.join(share)
  await lead()
  const { collectors: views, reasons, ...rest } = await collectors.view(share)
  assert.deepEqual(rest, { share, by: 'id', partitions: 4, epoch: 4, unserved: 1, recommended: null })
  assert.deepEqual(reasons, ['nobody reported in the last 10 minutes'])
  const unknown = { passes: 0, took: 0, had: 0, load: null, signal: 'unknown' }
  const times = { draining: false, joinedAt: START, expiresAt: START + LEASE_MS }
  const first = { id, name: 'host:1', weight: 2, filter: '4%0-2', revoked: '4%3', ...times, ...unknown }
  const other = {
    id: second,
    name: 'collector',
    weight: 1,
    filter: null,
    revoked: null,
    ...times,
    ...unknown,
  }
  assert.deepEqual(views, [first, other])
})

test('[Q9] what collectors finished becomes their signals and the number of workers', async () => {
  const { collectors, lead } = await openShares()
  const { id: busy } = await collectors.join(share)
  const { id: idle } = await collectors.join(share)
  await lead()
  const load = { id: busy, passes: 1, took: 3, had: 2, load: 1.5, signal: 'over' }
  assert.deepEqual(await collectors.finished({ share, id: busy }, { took: 3, had: 2 }), load)
  await collectors.finished({ share, id: idle }, { took: 0.5, had: 2 })
  const { recommended, collectors: views } = await collectors.view(share)
  assert.deepEqual([recommended, views.map(({ signal }) => signal)], [4, ['over', 'under']])
  await collectors.leave({ share, id: busy })
  assert.equal((await collectors.view(share)).recommended, 1)
})

test('[Q10] the last hundred reports of a collector are kept, for ten minutes', async () => {
  const clock = new VirtualClock()
  const reports = new Reports(clock)
  for (let nth = 0; nth < 150; nth += 1) reports.add('c', { took: nth, had: 1 })
  assert.deepEqual([reports.of('c').length, reports.of('c')[0]?.took], [100, 50])
  await clock.leap(WINDOW_MS)
  reports.add('c', { took: 7, had: 1 })
  assert.deepEqual(reports.of('c'), [{ took: 7, had: 1, at: WINDOW_MS }])
})

test('[Q10] of more than a thousand collectors the one silent the longest is forgotten', () => {
  const reports = new Reports(new VirtualClock())
  for (let nth = 0; nth < 1000; nth += 1) reports.add(`c${nth}`, { took: 1, had: 1 })
  reports.add('c0', { took: 1, had: 1 })
  reports.add('new', { took: 1, had: 1 })
  assert.deepEqual(
    ['c0', 'c1', 'c2', 'new'].map((id) => reports.of(id).length),
    [2, 0, 1, 1],
  )
})
