// Every kind of collision, where it is counted, and how many there were a second.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toIso } from '../../../src/clock.ts'
import { COLLISIONS, collisionsView } from '../../../src/meter/collisions.ts'
import type { Meter } from '../../../src/meter/meter.ts'
import { type PoolView, workView } from '../../../src/meter/work-view.ts'
import type { Entries } from '../../../src/pool/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { underAnother } from '../pool/open-taken-over.ts'
import { openWorker, waitingHandler } from '../pool/open-worker.ts'

function series(meter: Meter): string[] {
  const found = meter.metrics().find(({ name }) => name === 'headrace_collisions_total')?.series ?? []
  return found.map(({ labels, value }) => `${Object.values(labels).join()} ${Number(value)}`)
}

function only(meter: Meter): PoolView {
  const [view] = workView(meter.pools(), { window: '1s' })
  assert.ok(view !== undefined)
  return view
}

/** Those of the member. */
function ofMember({ collisions }: Meter): unknown[] {
  const meters = collisions.all().map(({ meter }) => meter)
  return collisionsView(meters, { kinds: COLLISIONS, window: '1s', second: collisions.second })
}

test('[I4] calls made again, refused writes and lost compare-and-sets are counted by what they are known to be of', async () => {
  const { clock, telemetry, meter, worker } = await openWorker(() => undefined)
  meter.listen()
  telemetry.emit('store.repeated', { operation: 'commit' })
  telemetry.emit('store.repeated', { operation: 'pulse' })
  telemetry.emit('fence.refused', { resource: 'pool/work', partitions: 3 })
  telemetry.emit('fence.refused', { resource: 'pool/work', partitions: 1, runs: 9 })
  telemetry.emit('control.lost', { pool: 'other', by: 'caller' })
  telemetry.emit('roster.raised', { resource: 'pool/work', raised: 1, refused: 1 })
  telemetry.emit('roster.decided', { kind: 'not-leader', dead: 0, changes: 0 })
  telemetry.emit('roster.decided', { kind: 'decided', dead: 0, changes: 1 })
  await clock.advance(1000)
  const bucket = { at: toIso(START), lost: 0, refused: 0, fenced: 3 }
  assert.deepEqual(ofMember(meter), [{ ...bucket, control: 1, roster: 2, repeated: 2, perSecond: 8 }])
  assert.deepEqual(only(meter).collisions, [{ ...bucket, control: 0, perSecond: 3 }])
  assert.deepEqual(series(meter), ['work,fenced 3', 'other,control 1', 'roster 2', 'repeated 2'])
  meter.close()
  await worker.service.stop()
})

test('[I4] [L11] a write of what steers a pool that finds another before it is counted, whoever makes it', async () => {
  let inWay = 0
  const opened = await openWorker(() => undefined, {
    control: (inner) => ({
      write: async (pool, version, control) => (inWay-- > 0 ? null : inner.write(pool, version, control)),
    }),
  })
  const { clock, pool, telemetry, meter, worker } = opened
  meter.listen()
  const by: string[] = []
  telemetry.on('control.lost', (lost) => by.push(lost.by))
  inWay = 2
  await pool.limit({ pool: { concurrency: 3 } })
  inWay = 1
  await pool.put('a')
  await clock.advance(1000)
  assert.deepEqual(by, ['caller', 'caller', 'share'])
  assert.deepEqual(
    series(meter).filter((line) => line.includes('control')),
    ['work,control 3'],
  )
  const counted = only(meter).collisions.reduce((sum, { control }) => sum + control, 0)
  assert.equal(counted, 3)
  meter.close()
  await worker.service.stop()
})

test('[I4] [X41] a mark that wrote nothing is a collision of its lane, lost or refused', async () => {
  const { handler } = waitingHandler()
  const entries = (all: Entries): Partial<Entries> => ({
    mark: async (pool, marks, claim) =>
      claim.owner === 'me'
        ? marks.map((_, nth) => ({ result: nth === 0 ? 'gone' : 'refused', nextDueAt: null }))
        : all.mark(pool, marks, claim),
  })
  const { clock, grant, meter, worker, telemetry } = await underAnother(handler, { a: 0, b: 0 }, { entries })
  meter.listen()
  const refused: unknown[] = []
  telemetry.on('fence.refused', ({ partitions, runs }) => refused.push([partitions, runs]))
  await grant([0], 3)
  await clock.advance(1000)
  const [first] = only(meter).lanes[0]?.buckets ?? []
  assert.deepEqual(first?.collisions, { lost: 1, refused: 1, perSecond: 2 })
  assert.deepEqual(only(meter).collisions[0]?.perSecond, 2)
  assert.deepEqual(series(meter), ['work,normal,lost 1', 'work,normal,refused 1'])
  assert.deepEqual(refused, [[1, 1]])
  meter.close()
  await worker.service.stop()
})
