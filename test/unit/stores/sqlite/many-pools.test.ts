// What a transaction costs where many pools are open: as much as the pools that it uses.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../../src/clock.ts'
import { noFaults } from '../../../../src/fault.ts'
import { Database } from '../../../../src/stores/sqlite/database.ts'
import { Pools } from '../../../../src/stores/sqlite/pools.ts'
import { Session } from '../../../../src/stores/sqlite/session.ts'
import { TurnCounter } from '../../../../src/stores/sqlite/turn-counter.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'

const MODE = { partitions: 2, rememberMs: null, mode: 'each' as const }

/** Pools on a file, and how many statements their process has asked for. */
async function open(t: TestContext, path: string) {
  const database = await Database.open(path, systemClock)
  const telemetry = createTelemetry(systemClock.id())
  const session = new Session({ database, clock: systemClock, telemetry, faults: noFaults })
  const turns = new TurnCounter(database)
  session.mirror(turns)
  const pools = new Pools({ database, session, turns })
  const asked = { statements: 0 }
  const { statement } = database
  database.statement = (name) => {
    asked.statements += 1
    return statement.call(database, name)
  }
  t.after(async () => {
    await session.close()
    database.close()
  })
  return { session, pools, asked }
}

/** What a read and a write of the first of so many pools cost after another process has written. */
async function costWith(t: TestContext, count: number): Promise<{ statements: number; flushed: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  const [here, elsewhere] = [await open(t, join(folder, 'a.db')), await open(t, join(folder, 'a.db'))]
  t.after(() => rmSync(folder, { recursive: true }))
  let flushed = 0
  for (let nth = 0; nth < count; nth += 1) {
    await here.pools.open({ name: `p${nth}`, ...MODE })
    const { journal } = here.session.look(() => here.pools.of(`p${nth}`))
    const flush = journal.flush.bind(journal)
    journal.flush = () => {
      flushed += 1
      flush()
    }
  }
  await elsewhere.pools.open({ name: 'elsewhere', ...MODE })
  // Ends what the loop has used.
  await here.session.write('other', () => undefined)
  await elsewhere.pools.open({ name: 'again', ...MODE })
  here.asked.statements = 0
  flushed = 0
  await here.session.read(() => here.pools.of('p0'))
  await here.session.write('other', () => here.pools.of('p0').fired.add('key', 1, 0))
  return { statements: here.asked.statements, flushed }
}

test('[J11] a transaction reads and writes what memory holds of the pools that it uses, not of all that are open', async (t) => {
  const [few, many] = [await costWith(t, 2), await costWith(t, 60)]
  assert.deepEqual(many, few)
  assert.equal(few.flushed, 1)
})

test('[J2] [J3] a pool that another transaction passed over follows what was written elsewhere meanwhile', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  const [here, elsewhere] = [await open(t, join(folder, 'a.db')), await open(t, join(folder, 'a.db'))]
  t.after(() => rmSync(folder, { recursive: true }))
  for (const { pools } of [here, elsewhere]) {
    for (const name of ['a', 'b']) await pools.open({ name, ...MODE, throttleMs: 5 })
  }
  await elsewhere.pools.open({ name: 'b', ...MODE, throttleMs: 7 })
  await here.session.read(() => here.pools.of('a'))
  assert.equal(await here.session.read(() => here.pools.of('b').rests.throttleMs), 7)
  await elsewhere.pools.open({ name: 'b', ...MODE, throttleMs: 9 })
  const failing = here.session.write('other', () => {
    here.pools.of('b').rests.change(11)
    throw new Error('planned failure')
  })
  await assert.rejects(failing, /planned failure/)
  assert.equal(
    here.session.look(() => here.pools.of('b').rests.throttleMs),
    9,
  )
})
