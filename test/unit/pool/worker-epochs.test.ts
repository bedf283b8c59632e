// Runs that outlive the ownership of their partition, which comes back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OpenWorker, openWorker, waitingHandler } from './open-worker.ts'

/** Asks for the partition; answers whether it could be handed over by now. */
function revoke({ ownership }: OpenWorker, epoch: number): () => boolean {
  const allotment = { resource: 'pool/work', partition: 0, owner: 'me', epoch, since: 0, moves: 0 }
  ownership.follow([{ ...allotment, next: 'other' }])
  let isIdle = false
  void ownership.idle([0], 30_000).then(() => (isIdle = true))
  return () => isIdle
}

test('[X18] no hand-over waits for a run that ignores its abort since an earlier epoch', async () => {
  const { handler, calls } = waitingHandler()
  const open = await openWorker(handler)
  await open.pool.put('ghost')
  await open.clock.advance(10)
  await open.grant([], 1)
  await open.grant([0], 3)
  await open.clock.advance(10)
  const isIdle = revoke(open, 3)
  await open.clock.advance(10)
  assert.deepEqual([isIdle(), calls.length], [true, 1])
  calls[0]?.end()
  await open.clock.advance(10)
  void open.worker.service.stop()
  await open.clock.advance(40_000)
})

test('[X18] the end of a run of an earlier epoch does not count as the end of one of this', async () => {
  const { handler, calls } = waitingHandler()
  const open = await openWorker(handler)
  await open.pool.put('ghost')
  await open.clock.advance(10)
  await open.grant([], 1)
  await open.grant([0], 3)
  await open.pool.put('other')
  await open.clock.advance(10)
  assert.deepEqual(
    calls.map(({ ctx }) => ctx.fence.epoch),
    [1, 3],
  )
  const isIdle = revoke(open, 3)
  calls[0]?.end()
  await open.clock.advance(10)
  assert.equal(isIdle(), false)
  calls[1]?.end()
  await open.clock.advance(10)
  assert.deepEqual([isIdle(), calls.length], [true, 2])
  void open.worker.service.stop()
  await open.clock.advance(40_000)
})
