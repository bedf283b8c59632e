// The file of a SQLite store is replaced, written over, or loses its log under a running server: it stops answering.
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readStore } from './store-file.ts'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-replaced-'))
const servers: ServerProcess[] = []
after(async () => {
  for (const server of servers) await server.kill()
  rmSync(folder, { recursive: true, force: true })
})

const LATER = Date.now() + 3_600_000

/** A served file with a copy of it as it was before it was served again. */
async function serveWithCopy(name: string): Promise<{ file: string; copy: string; server: ServerProcess }> {
  const file = join(folder, `${name}.db`)
  const first = await ServerProcess.start({ file })
  assert.equal(await first.post('before', LATER), 202)
  assert.equal((await first.terminate()).code, 0)
  copyFileSync(file, `${file}.copy`)
  const server = await ServerProcess.start({ file })
  servers.push(server)
  return { file, copy: `${file}.copy`, server }
}

/** Puts one tick after another until one is not accepted; answers those that were. */
async function putUntilRefused(server: ServerProcess, name: string): Promise<string[]> {
  const accepted: string[] = []
  await until(
    'the server refuses',
    async () => {
      const item = `${name}-${accepted.length}`
      const status = await server.post(item, LATER).catch(() => null)
      if (status === 202) accepted.push(item)
      else if (status !== null) assert.equal(status, 503)
      return status !== 202
    },
    15_000,
  )
  return accepted
}

const HARMS: [how: string, harm: (file: string, copy: string) => void, sees: RegExp][] = [
  [
    'replaced by a rename',
    (file, copy) => renameSync(copy, file),
    /another file than the one that was opened/,
  ],
  ['removed', (file) => rmSync(file), /is gone/],
  ['robbed of its log', (file) => rmSync(`${file}-wal`), /-wal is gone/],
]

for (const [how, harm, sees] of HARMS) {
  test(`[J9] nothing is accepted after the file was ${how}, and the server says why and ends`, async () => {
    const { file, copy, server } = await serveWithCopy(how.replaceAll(' ', '-'))
    assert.equal(await server.post('served', LATER), 202)
    harm(file, copy)
    assert.deepEqual(await putUntilRefused(server, 'lost'), [])
    await until('it has ended', () => !server.running, 30_000)
    assert.match(server.talk, sees)
    assert.match(server.talk, /stop all processes that use it/)
  })
}

test('[J9] an earlier copy written over the file is found by the next pulse', async () => {
  const { file, copy, server } = await serveWithCopy('written-over')
  assert.equal(await server.post('served', LATER), 202)
  copyFileSync(copy, file)
  await putUntilRefused(server, 'over')
  await until('it has ended', () => !server.running, 30_000)
  assert.match(server.talk, /is an earlier copy|another file than the one that was opened/)
})

test('[J9] a second server on the file that was put in place works, and the first does not go on', async () => {
  const { file, copy, server } = await serveWithCopy('two')
  renameSync(copy, file)
  for (const log of [`${file}-wal`, `${file}-shm`]) rmSync(log, { force: true })
  await using second = await ServerProcess.start({ file })
  await until('the first has ended', () => !server.running, 30_000)
  assert.equal(await second.post('here', LATER), 202)
  assert.equal((await second.terminate()).code, 0)
  const items = [...readStore(file).waiting].map((name) => name.split(' ')[0])
  assert.ok(items.some((name) => name?.includes('here')))
})
