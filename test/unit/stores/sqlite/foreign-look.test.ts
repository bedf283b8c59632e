// The look at what other processes did runs on a timer of its own: nobody is there to catch what it throws.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

test('a look that fails, as while another process recovers the file, is taken again', async (context) => {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const mine = await sqliteFiles.open(path, clock)
  const other = await sqliteFiles.open(path, clock)
  const hints: string[] = []
  mine.watch(({ kind }) => hints.push(kind))
  const broken = context.mock.method(StatementSync.prototype, 'get', () => {
    throw Object.assign(new Error('database is locked'), { errcode: 261 })
  })
  await clock.advance(10)
  assert.equal(broken.mock.callCount(), 2)
  broken.mock.restore()
  await other.log.open({ name: 'ticks', partitions: 1, retentionMs: 1000 })
  await clock.advance(10)
  assert.deepEqual(hints, ['foreign'])
  await mine.close()
  await other.close()
  await sqliteFiles.remove(path)
})
