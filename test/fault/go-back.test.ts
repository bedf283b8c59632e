// A store that goes back under living members loses nothing, and mixes nothing, that is answered afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBinaries } from '../servers/binaries.ts'
import { WAYS, goBack } from './go-back.ts'

const skip = findBinaries(15) === null

for (const way of WAYS) {
  test(
    `[G6] [Y21] after ${way} under living members every key that is answered runs`,
    { skip },
    async (t) => {
      const went = await goBack(way, { inFlight: 80, keys: 200 })
      assert.ok(went !== null)
      t.diagnostic(
        `${went.lost} of ${went.inFlight} keys in flight were lost; ${went.failed} calls were made again`,
      )
      assert.deepEqual(went.wrong, [])
    },
  )
}
