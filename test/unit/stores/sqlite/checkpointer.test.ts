// The thread that copies the log under load: how it ends, and what happens where it cannot run.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../../../src/clock.ts'
import { Checkpointer } from '../../../../src/stores/sqlite/checkpointer.ts'
import type { Database } from '../../../../src/stores/sqlite/database.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

const SOURCE = new URL('../../../../src/', import.meta.url)

/** So many that a copy on this thread is followed by one on another. */
const OFTEN = 75

test('a process that waits for the end of the thread, and for nothing else, does not end before', async () => {
  const path = await sqliteFiles.create()
  const script = `
    const { systemClock } = await import('${SOURCE.href}clock.ts')
    const { Checkpointer } = await import('${SOURCE.href}stores/sqlite/checkpointer.ts')
    const { Database } = await import('${SOURCE.href}stores/sqlite/database.ts')
    let passedMs = 0
    const clock = { ...systemClock, mono: () => (passedMs += 10) }
    const database = await Database.open(${JSON.stringify(path)}, clock)
    const checkpointer = new Checkpointer({ database, clock })
    for (let nth = 0; nth < ${OFTEN}; nth += 1) checkpointer.committed()
    await checkpointer.close()
    database.close()
    console.log('closed')
  `
  // Which of both ends first is a matter of luck.
  for (let nth = 0; nth < 3; nth += 1) {
    const args = ['--input-type=module', '-e', script]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.deepEqual([status, stdout], [0, 'closed\n'])
  }
  await sqliteFiles.remove(path)
})

test('a thread that cannot run is not started again and again', async () => {
  const threads: Worker[] = []
  const count = (thread: Worker): void => void threads.push(thread)
  process.on('worker', count)
  const database = { path: '/dev/null/none.db', checkpoint: () => undefined } as unknown as Database
  let passedMs = 0
  const clock = { ...systemClock, mono: () => (passedMs += 10) }
  const checkpointer = new Checkpointer({ database, clock })
  for (let nth = 0; nth < OFTEN; nth += 1) checkpointer.committed()
  await systemClock.sleep(0)
  threads[0]?.ref()
  await new Promise((ended) => threads[0]?.once('exit', ended))
  for (let nth = 0; nth < 200; nth += 1) checkpointer.committed()
  await systemClock.sleep(0)
  assert.equal(threads.length, 1)
  await checkpointer.close()
  process.off('worker', count)
})
