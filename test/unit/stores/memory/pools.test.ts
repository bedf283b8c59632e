// What the memory store forgets, so that it does not grow for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../../src/fault.ts'
import { createCommit } from '../../../../src/stores/memory/commit.ts'
import { MemoryFences } from '../../../../src/stores/memory/fences.ts'
import { MemoryPools } from '../../../../src/stores/memory/pools.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'

async function openPools() {
  const clock = new VirtualClock()
  const parts = { clock, commit: createCommit(noFaults), hint: () => undefined }
  const pools = new MemoryPools({ ...parts, fences: new MemoryFences(parts) })
  await pools.open({ name: 'p', partitions: 1, mode: 'each', rememberMs: 1000 })
  const put = (id: string, at: number) =>
    pools.put('p', [
      {
        puts: [{ key: id, at, payload: undefined, lane: 'normal', group: id, onConflict: 'earliest' }],
        repeat: { id, fingerprint: 'f', keepMs: 1000 },
      },
    ])
  return { clock, pools, put }
}

test('[R2] an answer past its time is dropped by later puts, also after it was given anew', async () => {
  const { clock, pools, put } = await openPools()
  for (const id of ['a', 'b', 'c']) await put(id, START)
  await clock.advance(1000)
  await put('a', START)
  await clock.advance(500)
  await put('d', START)
  assert.deepEqual([...pools.of('p').answers.keys()], ['a', 'd'])
})

test('[T5] a fired slot past its time is dropped by later moves', async () => {
  const { clock, pools, put } = await openPools()
  for (const id of ['a', 'b', 'c']) {
    await put(id, clock.now())
    pools.fireNow('p', pools.dueNow('p', new Set([0]), 10).entries, clock.now())
    await clock.advance(500)
  }
  pools.fireNow('p', [], clock.now())
  assert.equal(pools.of('p').fired.size, 1)
})
