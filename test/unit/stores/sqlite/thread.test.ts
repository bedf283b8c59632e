// A store on a thread of its own is used like any other: its errors, hints and telemetry arrive as they were.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../../src/clock.ts'
import { HeadraceError } from '../../../../src/errors.ts'
import { noFaults } from '../../../../src/fault.ts'
import type { Hint, Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { StoreClient } from '../../../../src/stores/sqlite/thread/client.ts'
import type { Call } from '../../../../src/stores/sqlite/thread/messages.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'

const POOL = { name: 'jobs', mode: 'each', partitions: 4, rememberMs: null } as const
const PUT = { key: 'a', at: 1, payload: undefined, lane: 'normal', group: 'b', onConflict: 'keep' } as const

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'headrace.db')
}

async function open(t: TestContext, telemetry = createTelemetry(systemClock.id())): Promise<Store> {
  const store = await openStore(`sqlite:${newFile(t)}`, { clock: systemClock, telemetry, faults: noFaults })
  t.after(() => store.close())
  await store.pool.entries.open(POOL)
  return store
}

test('an error of the store keeps its code, its message and its remedy', async (t) => {
  const store = await open(t)
  await assert.rejects(store.pool.entries.open({ ...POOL, partitions: 8 }), (error: unknown) => {
    assert.ok(error instanceof HeadraceError)
    assert.equal(error.code, 'pool_mismatch')
    assert.match(error.message, /jobs/)
    assert.notEqual(error.remedy, null)
    return true
  })
})

test('hints and telemetry of the store reach who listens here', async (t) => {
  const telemetry = createTelemetry(systemClock.id())
  const operations: string[] = []
  t.after(telemetry.on('store.called', ({ operation }) => void operations.push(operation)))
  const store = await open(t, telemetry)
  const hints: Hint[] = []
  t.after(store.watch((hint) => hints.push(hint)))
  const [response] = await store.pool.entries.put('jobs', [{ puts: [PUT], repeat: null }])
  assert.equal(response?.kind, 'answered')
  await store.pool.browse.count('jobs')
  assert.deepEqual(
    hints.map(({ kind }) => kind),
    ['put'],
  )
  assert.ok(operations.includes('commit') && operations.includes('read'), operations.join(' '))
})

test('a payload of null is no missing one, and a group of its own is kept', async (t) => {
  const store = await open(t)
  const puts = [PUT, { ...PUT, key: 'c', payload: 'null', at: null }]
  const repeat = { id: 'once', fingerprint: 'x', keepMs: 60_000 }
  const [first] = await store.pool.entries.put('jobs', [{ puts, repeat }])
  const [again, other] = await store.pool.entries.put('jobs', [
    { puts, repeat },
    { puts, repeat: { ...repeat, fingerprint: 'y' } },
  ])
  assert.ok(first?.kind === 'answered' && again?.kind === 'answered')
  assert.deepEqual([first.replayed, again.replayed, other], [false, true, { kind: 'mismatch' }])
  assert.deepEqual(again.answers, first.answers)
  const { entries } = await store.pool.browse.list('jobs', { limit: 10 })
  const byKey = entries.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  assert.deepEqual(
    byKey.map(({ group, next }) => [group, next.payload]),
    [
      ['b', null],
      ['b', 'null'],
    ],
  )
})

test('a file of a newer Headrace is refused from the thread as without one', async (t) => {
  const file = newFile(t)
  const context = { clock: systemClock, telemetry: createTelemetry('new'), faults: noFaults }
  await (await openStore(`sqlite:${file}`, context)).close()
  const database = new DatabaseSync(file)
  database.exec('PRAGMA user_version = 9999')
  database.close()
  await assert.rejects(openStore(`sqlite:${file}`, context), { code: 'store_newer' })
})

test('a store that nobody waits for keeps no process alive, and one that is asked answers first', (t) => {
  const modules = ['clock', 'fault', 'telemetry', 'stores/open'].map((name) => {
    return JSON.stringify(new URL(`../../../../src/${name}.ts`, import.meta.url).href)
  })
  const program = `
    const [{ systemClock: clock }, { noFaults: faults }, { createTelemetry }, { openStore }] =
      await Promise.all([${modules.join()}].map((module) => import(module)))
    const store = await openStore(${JSON.stringify(`sqlite:${newFile(t)}`)},
      { clock, faults, telemetry: createTelemetry('short') })
    void store.log.topics().then(() => console.log('answered'))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  assert.deepEqual([status, stdout, stderr], [0, 'answered\n', ''])
})

test('when the thread is gone, open calls and later ones fail', async () => {
  const posted: Call[] = []
  const telemetry = createTelemetry('gone')
  const failures: unknown[] = []
  const stop = telemetry.on('store.lost', ({ error }) => void failures.push(error))
  const client = new StoreClient({
    name: 'a.db',
    telemetry,
    post: (call) => void posted.push(call),
    waits: () => undefined,
  })
  client.receive({ kind: 'opened', address: 'sqlite:a.db', putsAtOnce: 1 })
  const store = await client.store()
  const waits = store.log.topics()
  client.end(new Error('out of memory'))
  const lost = { code: 'store_failed', message: /a\.db.*out of memory/ }
  await assert.rejects(waits, lost)
  await assert.rejects(store.log.topics(), lost)
  assert.deepEqual([posted.length, failures.length], [1, 1])
  stop()
})
