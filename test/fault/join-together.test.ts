// Many members that start on one file at the same time.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { until } from './until.ts'

const PROCESSES = 4
const EACH = 3
const MEMBERS = PROCESSES * EACH
const WITHIN_MS = 60_000

interface Told {
  joined: string[]
  dead: number
}

/** A process of members; `ask` sends it a line and reads the next. */
async function begin(t: TestContext, store: string) {
  const script = join(import.meta.dirname, 'join-together.ts')
  const child = spawn(process.execPath, [script, store, String(EACH)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.stdin.end()
    await ended
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return async (line: string): Promise<Told> => {
    child.stdin.write(`${line}\n`)
    return JSON.parse((await lines.next()).value as string) as Told
  }
}

test('[G1] members that start on one file at once all join, share the work, and none is declared dead', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const address = `sqlite:${join(folder, 'headrace.db')}`
  const asks = await Promise.all(Array.from({ length: PROCESSES }, () => begin(t, address)))
  await Promise.all(asks.map((ask) => ask('start')))
  const telemetry = createTelemetry(systemClock.id())
  const store = await openStore(address, { clock: systemClock, telemetry, faults: noFaults })
  t.after(() => store.close())
  const shared = async (): Promise<boolean> => {
    const { allotments } = await store.roster.view()
    return new Set(allotments.map(({ owner }) => owner)).size === MEMBERS
  }
  await until('every member has a share', shared, WITHIN_MS)
  const told = await Promise.all(asks.map((ask) => ask('tell')))
  const joined = told.flatMap((each) => each.joined)
  const { members } = await store.roster.view()
  // Under the id that it joined with first: nobody had to join again.
  assert.deepEqual(members.map(({ id }) => id).toSorted(), joined.toSorted())
  assert.equal(members.length, MEMBERS)
  assert.deepEqual(
    told.map(({ dead }) => dead),
    told.map(() => 0),
  )
})
