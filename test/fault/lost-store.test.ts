// A server whose store is lost for good ends by itself, with the reason, so that whoever looks after it starts another.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { Witness } from './witness.ts'

const PLAN = join(import.meta.dirname, 'fail-in-thread.ts')

test('the thread of the store fails: the server ends with exit code 1, and nothing that it answered is lost', async () => {
  await using witness = await Witness.create()
  const failFile = join(dirname(witness.file), 'fail')
  await using server = await ServerProcess.start({
    file: witness.file,
    nodeArgs: ['--import', PLAN],
    env: { FAIL_FILE: failFile },
  })
  assert.equal(await server.post('kept', Date.now() + 86_400_000), 202)
  writeFileSync(failFile, '')
  await until('the server has ended', () => !server.running, 20_000)
  assert.equal((await server.kill()).code, 1)
  assert.match(server.talk, /"detail": ".*planned failure"/)
  assert.match(server.talk, /restart/)
  await using next = await ServerProcess.start({ file: witness.file })
  const response = await fetch(`${next.url}/v1/ticks?item=kept`)
  assert.match(await response.text(), /"item":"kept"/)
})
