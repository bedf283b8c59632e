// A hundredth of each flood, on a file: the driver works, and no flood costs a lease.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { floodServer } from './flood-server.ts'
import { FLOODS } from './floods.ts'

test('a server that works answers small floods, loses no lease, and goes on to work', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-flood-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = `sqlite:${join(folder, 'headrace.db')}`
  const found = await floodServer({ store, rate: 200, part: 0.01, progress: (text) => t.diagnostic(text) })
  assert.equal(found.length, FLOODS.length)
  for (const { flood, lost, runsPerSecond, answers } of found) {
    assert.equal(lost, 0, flood)
    assert.ok(runsPerSecond > 0, flood)
    // Who asks without waiting for answers is cut.
    assert.doesNotMatch(answers, flood.includes('/readyz') ? /× 5/ : /^0 |× 5|cut|closed/, flood)
  }
})
