// A full disk stops what needs room and nothing else, and more room is all that is needed to go on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFindings } from './check-ticks.ts'
import { canMount, fillDisk } from './full-disk.ts'

const skip = canMount ? false : 'NOT RUN: a full disk needs a small tmpfs, and mounting one needs root'

test('a full disk refuses with store_full, loses nothing, and recovers by itself', { skip }, async () => {
  const { findings, seed, refusals, whileFull, recoveredMs } = await fillDisk()
  assert.equal(describeFindings(findings), '', `seed ${seed}`)
  assert.deepEqual(Object.keys(refusals), ['503 store_full'])
  const { alive, livez, readyz, store, reads } = whileFull
  assert.deepEqual(
    { alive, livez, readyz, reads },
    { alive: true, livez: 200, readyz: 503, reads: [200, 200] },
  )
  assert.match(store, /no room left/)
  assert.ok(recoveredMs < 10_000, `${recoveredMs} ms`)
})
