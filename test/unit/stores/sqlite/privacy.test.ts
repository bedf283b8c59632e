// Who may read what a SQLite store writes.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../../../../src/clock.ts'
import { noFaults } from '../../../../src/fault.ts'
import type { Finding, Store } from '../../../../src/store.ts'
import { openSqliteStore } from '../../../../src/stores/sqlite/store.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'

const place = mkdtempSync(join(tmpdir(), 'headrace-privacy-'))
const umask = process.umask(0o022)
after(() => {
  process.umask(umask)
  rmSync(place, { recursive: true, force: true })
})

function open(file: string): Promise<Store> {
  return openSqliteStore(file, { clock: systemClock, telemetry: createTelemetry('test'), faults: noFaults })
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

async function privacyOf(store: Store): Promise<Finding | undefined> {
  return (await store.inspect()).find(({ check }) => check === 'privacy')
}

test('[J10] folders and files that the store makes are open to their user alone', async () => {
  const folder = join(place, 'made', 'here')
  const file = join(folder, 'store.db')
  const store = await open(file)
  assert.deepEqual([modeOf(join(place, 'made')), modeOf(folder)], ['700', '700'])
  assert.deepEqual([file, `${file}-wal`, `${file}-shm`].map(modeOf), ['600', '600', '600'])
  assert.equal((await privacyOf(store))?.ok, true)
  await store.close()
})

test('[J10] what exists keeps its mode, and inspection names the remedy', async () => {
  const folder = join(place, 'shared')
  mkdirSync(folder)
  const file = join(folder, 'store.db')
  await (await open(file)).close()
  chmodSync(file, 0o644)
  const store = await open(file)
  assert.deepEqual([modeOf(folder), modeOf(file)], ['755', '644'])
  const finding = await privacyOf(store)
  assert.equal(finding?.ok, false)
  assert.equal(finding.remedy, `take them away: chmod 600 ${file} ${file}-wal ${file}-shm`)
  chmodSync(folder, 0o700)
  assert.equal((await privacyOf(store))?.ok, true, 'nobody else can enter the folder')
  await store.close()
})
