// Two processes on one file are harmless: each tick moves once, whoever moves it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFindings } from './check-ticks.ts'
import { shareFileUnderLoad } from './share-file-under-load.ts'

test('two servers on one file, one of them killed three times, fire every tick once and leave no gap', async () => {
  const { findings, seed, events, survivorFailed } = await shareFileUnderLoad(3)
  assert.equal(describeFindings(findings), '', `seed ${seed}`)
  assert.equal(survivorFailed, 0)
  assert.ok(events > 500, `${events} events`)
})
