// Addresses of stores: what cannot be meant is refused before a file is made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { openStore } from '../../../src/stores/open.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const samples: [string, RegExp][] = [
  ['sqlite:', /names no file/],
  ['sqlite::memory:', /write memory:/],
  ['sqlite://x.db', /write sqlite:x\.db .* sqlite:\/\/\/x\.db/],
  ['sqlite://dir/x.db', /write sqlite:dir\/x\.db/],
  ['sqlite:./a.db?mode=ro', /without "\?"/],
  ['sqlite:file:a.db?cache=shared', /without "\?"/],
  ['redis://me:secret@db/x', /write sqlite:/],
  ['postgres://me:secret@db/x?schema=a-b', /up to 63 small letters/],
  ['postgres://me:secret@db/x?max=0', /from 3 to 1000/],
  ['', /write sqlite:/],
]

for (const [address, words] of samples) {
  test(`the store address ${JSON.stringify(address)} is refused with a remedy`, async () => {
    const clock = new VirtualClock()
    const context = { clock, telemetry: createTelemetry('a'), faults: noFaults }
    await assert.rejects(openStore(address, context), (error: Error & { code: string; remedy: string }) => {
      assert.equal(error.code, 'store_unknown')
      assert.match(`${error.message}: ${error.remedy}`, words)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })
}
