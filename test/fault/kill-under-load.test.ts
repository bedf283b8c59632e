// A process that is killed in the middle of everything loses nothing that it acknowledged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFindings } from './check-ticks.ts'
import { killUnderLoad } from './kill-under-load.ts'

test('five SIGKILLs under load lose no acknowledged tick, fire none early or twice, and leave no gap', async () => {
  const { findings, kills, seed, acknowledged, events } = await killUnderLoad(5)
  assert.equal(describeFindings(findings), '', `seed ${seed}`)
  assert.ok(kills.every(({ inFlight }) => inFlight >= 50))
  assert.ok(acknowledged > 500 && events > 500, `${acknowledged} acknowledged, ${events} events`)
})
