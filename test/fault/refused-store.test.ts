// A file that is not ours, or of a newer Headrace, is refused in one sentence and left as it is.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ServerProcess, runHeadrace } from './server-process.ts'
import { Witness } from './witness.ts'

async function serve(file: string): Promise<{ code: number | null; talk: string }> {
  return runHeadrace(['serve', '--port', '0', '--store', `sqlite:${file}`])
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

test('a store of a newer schema is refused with both versions, the remedy and exit code 1', async () => {
  await using witness = await Witness.create()
  const server = await ServerProcess.start({ file: witness.file })
  await server.terminate()
  change(witness.file, 'pragma user_version = 999')
  const { code, talk } = await serve(witness.file)
  assert.equal(code, 1)
  assert.match(talk, /error\[store_newer\] .*schema version 999, this Headrace knows versions up to \d+/)
  assert.match(talk, /try +upgrade/)
})

test('the database of another application is refused and not changed', async () => {
  await using witness = await Witness.create()
  change(witness.file, 'create table account (id integer primary key); insert into account values (1)')
  const before = readFileSync(witness.file)
  const { code, talk } = await serve(witness.file)
  assert.equal(code, 1)
  assert.match(talk, /is the database of another application/)
  assert.deepEqual(readFileSync(witness.file), before)
})

test('a file that is no database is refused and not changed', async () => {
  await using witness = await Witness.create()
  writeFileSync(witness.file, 'Dear diary, '.repeat(500))
  const { code, talk } = await serve(witness.file)
  assert.equal(code, 1)
  assert.match(talk, /error\[store_failed\] .*not a database/)
  assert.equal(readFileSync(witness.file, 'utf8'), 'Dear diary, '.repeat(500))
})

test('a store where no folder can be made is refused at once', async () => {
  const { code, talk } = await serve('/proc/nowhere/headrace.db')
  assert.equal(code, 1)
  assert.match(talk, /error\[store_failed\] .*\/proc\/nowhere/)
})
