// A copy that was made while the file was open, and is written over it, is told apart from the file.
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { systemClock } from '../../../../src/clock.ts'
import { noFaults } from '../../../../src/fault.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { RESOURCE, asMember, beat } from '../../../../src/testing/roster-driver.ts'

function run(file: string, statement: string): void {
  const connection = new DatabaseSync(file)
  connection.exec(statement)
  connection.close()
}

test('[J9] a copy made since the last opening, more than a minute ago, is found by a pulse', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-copy-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [file, copy] = [join(folder, 'a.db'), join(folder, 'copy.db')]
  let passedMs = 0
  const clock = { ...systemClock, mono: () => systemClock.mono() + passedMs }
  const context = { clock, telemetry: createTelemetry('test'), faults: noFaults }
  const store = await openStore(`sqlite:${file}`, context)
  await store.roster.join(asMember('a'), [RESOURCE])
  await beat(store, 'a')
  run(file, `VACUUM INTO '${copy}'`)
  passedMs += 61_000
  await beat(store, 'a')
  await beat(store, 'a')
  run(file, 'PRAGMA wal_checkpoint(TRUNCATE)')
  copyFileSync(copy, file)
  await assert.rejects(beat(store, 'a'), { code: 'store_replaced' })
  await store.close().catch(() => undefined)
})
