// A process that is killed while it creates its store leaves a file that the next one opens.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { headrace } from '../../src/headrace.ts'
import { spawnHeadrace } from './server-process.ts'
import { readStore } from './store-file.ts'
import { Witness } from './witness.ts'

const KILLS = 20

/** Starts a migration and kills it some loops of looking after the file has appeared. */
async function killMigration(file: string, looks: number): Promise<void> {
  const child = spawnHeadrace(['migrate', '--store', `sqlite:${file}`])
  const ended = once(child, 'close')
  let left = looks
  while (left > 0 && child.exitCode === null) {
    await new Promise((resolve) => setImmediate(resolve))
    if (existsSync(file)) left -= 1
  }
  child.kill('SIGKILL')
  await ended
}

/** Whether the schema was complete when the process was killed. */
function isMigrated(file: string): boolean {
  const bytes = existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : Buffer.alloc(0)
  return bytes.includes('create table event') || readFileSync(file).includes('create table event')
}

/** Opens the store as the next process would, and puts an entry that waits. */
async function putOne(file: string): Promise<void> {
  const race = await headrace({ store: `sqlite:${file}` })
  const pool = race.pool('ticks', { mode: 'each' })
  await race.start()
  await pool.put('after', { at: Date.now() + 3_600_000 })
  await race.stop()
}

test('a store whose creation was killed twenty times, at twenty moments, opens and takes an entry', async () => {
  let halfway = 0
  for (let kill = 0; kill < KILLS; kill++) {
    await using witness = await Witness.create()
    await killMigration(witness.file, 1 + kill * 8)
    if (!isMigrated(witness.file)) halfway += 1
    await putOne(witness.file)
    assert.equal(readStore(witness.file).waiting.size, 1)
  }
  assert.ok(halfway > 0, 'no kill came before the migration had ended')
})
