// Who waits for the disk: syncs are held up here, and ended one by one.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import type { Store } from '../../../../src/store.ts'
import { type Faults, noFaults } from '../../../../src/fault.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { openTicks } from '../../../../src/testing/ticks-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'
import { BEAT, MEMBER } from './a-member.ts'

type Done = (error: Error | null) => void

/** A disk whose syncs, once held, end when they are told to; what is left when the test ends, ends with it. */
function holdSyncs(t: TestContext): { begun: Done[]; hold(): void } {
  const begun: Done[] = []
  const real = fs.fdatasync
  let held = false
  t.mock.method(fs, 'fdatasync', (file: number, done: Done) => {
    let isOver = false
    const end = (error: Error | null): void => {
      if (!isOver) done(error)
      isOver = true
    }
    if (held) begun.push(end)
    else real(file, done)
  })
  syncBuiltinESMExports()
  t.after(() => {
    held = false
    for (const end of begun) end(null)
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return { begun, hold: () => (held = true) }
}

async function openAt(path: string, faults: Faults = noFaults): Promise<Store> {
  const clock = new VirtualClock()
  return openStore(`sqlite:${path}`, { clock, telemetry: createTelemetry(clock.id()), faults })
}

async function open(t: TestContext, faults: Faults = noFaults) {
  const syncs = holdSyncs(t)
  const path = await sqliteFiles.create()
  const store = await openAt(path, faults)
  const ticks = await openTicks(store)
  t.after(async () => {
    await store.close()
    await sqliteFiles.remove(path)
  })
  return { ...ticks, store, path, syncs }
}

/** Whether it was answered after everything that needs no disk has had its time. */
async function isAnswered(call: Promise<unknown>): Promise<boolean> {
  let answered = false
  const note = (): void => void (answered = true)
  call.then(note, note)
  for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next))
  return answered
}

/** A put that shares its transaction with a move of the one before, which waits for no sync: so both begin at once. */
function putWithMove({ pool, move }: Awaited<ReturnType<typeof open>>, key: string): Promise<unknown> {
  const moved = move()
  return Promise.all([pool.put(key, { at: START }), moved])
}

test('[J8] a put is answered when a sync has ended that began after its commit', async (t) => {
  const opened = await open(t)
  const { pool, syncs } = opened
  await pool.put('due', { at: START })
  syncs.hold()
  const first = pool.put('a')
  assert.equal(await isAnswered(first), false)
  const second = putWithMove(opened, 'b')
  assert.equal(await isAnswered(second), false)
  const third = putWithMove(opened, 'c')
  assert.equal(await isAnswered(third), false)
  assert.equal(syncs.begun.length, 2, 'two are under way')
  syncs.begun[0]?.(null)
  assert.deepEqual(await Promise.all([first, second, third].map(isAnswered)), [true, false, false])
  // The second ends after the third commit: it does not count for that.
  assert.equal(syncs.begun.length, 3)
  syncs.begun[1]?.(null)
  assert.deepEqual(await Promise.all([second, third].map(isAnswered)), [true, false])
  syncs.begun[2]?.(null)
  assert.equal(await isAnswered(third), true)
})

test('[J8] a sync that ends before an earlier one counts for what was committed before it', async (t) => {
  const opened = await open(t)
  const { pool, syncs } = opened
  await pool.put('due', { at: START })
  syncs.hold()
  const first = pool.put('a')
  assert.equal(await isAnswered(first), false)
  const second = putWithMove(opened, 'b')
  assert.equal(await isAnswered(second), false)
  syncs.begun[1]?.(null)
  assert.deepEqual(await Promise.all([first, second].map(isAnswered)), [true, true])
})

test('[J8] puts gather while two syncs are under way, and wait for the next one together', async (t) => {
  const { pool, syncs } = await open(t)
  syncs.hold()
  const puts: Promise<unknown>[] = []
  for (const key of ['a', 'b', 'c', 'd']) {
    puts.push(pool.put(key))
    assert.deepEqual(
      await Promise.all(puts.map(isAnswered)),
      puts.map(() => false),
    )
  }
  assert.equal(syncs.begun.length, 2)
  syncs.begun[0]?.(null)
  assert.deepEqual(await Promise.all(puts.map(isAnswered)), [true, false, false, false])
  syncs.begun[1]?.(null)
  assert.deepEqual(await Promise.all(puts.map(isAnswered)), [true, true, false, false])
  syncs.begun[2]?.(null)
  assert.deepEqual(await Promise.all(puts.map(isAnswered)), [true, true, true, true])
  assert.equal(syncs.begun.length, 3)
})

test('[J8] a move is answered at once, and its event is shown when it is on the disk', async (t) => {
  const { pool, move, topic, syncs } = await open(t)
  await pool.put('a', { at: START })
  syncs.hold()
  const moved = move()
  assert.equal(await isAnswered(moved), true)
  const read = topic.readAll()
  assert.equal(await isAnswered(read), false)
  for (const done of syncs.begun) done(null)
  assert.equal((await read).length, 1)
})

test('[J5] [J8] a beat is answered without a sync', async (t) => {
  const { store, pool, syncs } = await open(t)
  await store.roster.join(MEMBER, [])
  syncs.hold()
  const put = pool.put('a')
  const pulse = store.pulse({ beat: BEAT, pools: [] })
  assert.deepEqual([await isAnswered(pulse), await isAnswered(put)], [true, false])
  for (const done of syncs.begun) done(null)
  await put
})

test('[J8] what another process has written is shown when it is on the disk', async (t) => {
  const { path, topic, pool, syncs } = await open(t)
  const other = await openAt(path)
  t.after(() => other.close())
  const theirs = await openTicks(other)
  await theirs.topic.readAll()
  await topic.readAll()
  syncs.hold()
  const put = pool.put('a')
  assert.equal(await isAnswered(put), false)
  const list = theirs.pool.list()
  assert.equal(await isAnswered(list), false)
  assert.equal(syncs.begun.length, 2, 'each process syncs what it shows')
  for (const done of syncs.begun) done(null)
  assert.equal((await list).length, 1)
  await put
})

test('[J2] [J8] when a sync fails, what waits for it and whatever comes is refused', async (t) => {
  const { pool, topic, syncs } = await open(t)
  syncs.hold()
  const put = pool.put('a')
  assert.equal(await isAnswered(put), false)
  const failed = { code: 'store_failed', remedy: /look after the disk/ }
  const refused = assert.rejects(put, failed)
  syncs.begun[0]?.(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))
  await refused
  await assert.rejects(pool.put('b'), failed)
  await assert.rejects(topic.readAll(), failed)
})

test('[J8] a store that a link leads to syncs the log beside the file, not beside the link', async (t) => {
  const path = await sqliteFiles.create()
  const link = `${path}.link`
  fs.symlinkSync(path, link)
  fs.writeFileSync(path, '')
  const store = await openAt(link)
  t.after(async () => {
    await store.close()
    fs.rmSync(link)
    await sqliteFiles.remove(path)
  })
  const { pool } = await openTicks(store)
  assert.equal((await pool.put('a')).result, 'created')
})

test('[J8] a store that is closed waits for the syncs of its reads', async (t) => {
  const { store, pool, move, topic, syncs } = await open(t)
  await pool.put('a', { at: START })
  syncs.hold()
  await move()
  const read = topic.readAll()
  assert.equal(await isAnswered(read), false)
  const closed = store.close()
  assert.equal(await isAnswered(closed), false)
  for (const end of syncs.begun) end(null)
  assert.equal((await read).length, 1)
  await closed
})

test('[J8] what has gathered goes on when a sync ends, also if reads have begun the next one', async (t) => {
  const commits: string[] = []
  const { path, pool, syncs } = await open(t, { at: (point) => void commits.push(point) })
  const other = await openAt(path)
  t.after(() => other.close())
  const theirs = await openTicks(other)
  syncs.hold()
  commits.length = 0
  const puts: Promise<unknown>[] = []
  for (const key of ['a', 'b', 'gathers']) {
    puts.push(pool.put(key))
    await isAnswered(Promise.all(puts))
  }
  puts.push(theirs.pool.put('theirs'))
  await isAnswered(Promise.all(puts))
  const list = pool.list()
  assert.equal(await isAnswered(list), false)
  assert.equal(commits.filter((point) => point === 'put.after-commit').length, 2)
  syncs.begun[0]?.(null)
  await isAnswered(list)
  assert.equal(commits.filter((point) => point === 'put.after-commit').length, 3)
  for (const end of syncs.begun) end(null)
})
