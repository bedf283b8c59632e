// One case per cell of the put table: prepares the entry, puts, and compares answer, entry and turn.
import assert from 'node:assert/strict'
import type { Entry, OnConflict, PlannedRun } from '../pool/entry.ts'
import type { Case, Subject } from './contract.ts'
import { type PoolDriver, openPool } from './pool-driver.ts'
import {
  CELL_STATES,
  CELL_TIMES,
  type Cell,
  type CellState,
  type CellTime,
  PREPARED,
  PUT_TABLE,
} from './put-table.ts'
import { START } from './virtual-clock.ts'

const KEY = 'vm-17'
/** Entries are prepared from START on; the put of the cell happens here. */
const NOW = START + 100

/** Brings an entry into a state by the pool's own calls; time stands at NOW afterwards. */
async function prepare(pool: PoolDriver, state: CellState, { clock }: Subject): Promise<void> {
  if (state === 'absent' || state === 'waiting') await clock.leap(100)
  if (state === 'absent') return
  await pool.put(KEY, { at: state === 'waiting' ? NOW + 1000 : START, payload: '"old"' })
  if (state === 'waiting') return
  const run = await pool.takeOne()
  await clock.leap(100)
  if (state === 'dead') await pool.settle(run, { kind: 'dead', reason: 'attempts', error: null })
  if (state.startsWith('backing off')) await pool.settle(run, { kind: 'retry', dueAt: NOW + 1000 })
  if (state.endsWith('with after')) await pool.put(KEY, { at: NOW + 2000, payload: '"then"' })
}

function fromNow(run: PlannedRun | null): PlannedRun | null {
  return run === null ? null : { ...run, dueAt: run.dueAt - NOW }
}

function shapeOf(entry: Entry | null): unknown {
  return entry === null ? null : { next: fromNow(entry.next), after: fromNow(entry.after) }
}

async function playCell(cell: Cell, time: CellTime, subject: Subject): Promise<void> {
  const pool = await openPool(subject.store)
  await prepare(pool, cell.state, subject)
  const before = await pool.find(KEY)
  assert.deepEqual(shapeOf(before), PREPARED[cell.state], 'the cell is prepared')
  const at = NOW + CELL_TIMES[time]
  const answer = await pool.put(KEY, { at, payload: '"new"', onConflict: cell.onConflict })
  const entry = await pool.get(KEY)
  assert.deepEqual(shapeOf(entry), { next: cell.next, after: cell.after })
  assert.equal(answer.result, cell.result)
  const holder = cell.rule === 'M7' ? (cell.after ?? cell.next) : cell.next
  assert.deepEqual(fromNow({ ...answer, payload: null }), {
    ...answer,
    dueAt: holder.dueAt,
    tally: holder.tally,
    payload: null,
  })
  assert.equal(entry.turn !== before?.turn, cell.renewed, 'the turn is renewed only by create and replace')
  if (cell.result === 'kept') assert.deepEqual(entry, before, 'a kept put changes nothing')
  else assert.equal(entry.putAt, NOW)
  if (cell.result === 'created') assert.deepEqual([entry.attempt, entry.state], [0, 'live'])
}

const inModeOne: Case[] = PUT_TABLE.flatMap((cell) =>
  cell.times.map((time) => ({
    title: `[${cell.rule}] a put, ${cell.onConflict}, ${time}, on an entry that is ${cell.state}: ${cell.result}`,
    run: (subject) => playCell(cell, time, subject),
  })),
)

/** In mode `each` the slot of the put is the entry: it exists already when it was put for the same `at`. */
async function playEach(
  state: 'waiting' | 'due' | 'dead' | 'backing off',
  onConflict: OnConflict,
  { store, clock }: Subject,
): Promise<void> {
  const pool = await openPool(store, { mode: 'each' })
  const at = state === 'waiting' ? NOW + 1000 : START
  await pool.put(KEY, { at, payload: '"old"' })
  const [run] = await pool.take()
  await clock.leap(100)
  if (run !== undefined && state === 'dead') {
    await pool.settle(run, { kind: 'dead', reason: 'attempts', error: null })
  }
  if (run !== undefined && state === 'backing off') {
    await pool.settle(run, { kind: 'retry', dueAt: NOW + 1000 })
  }
  const before = await pool.get(KEY, at)
  const answer = await pool.put(KEY, { at, payload: '"new"', onConflict })
  const entry = await pool.get(KEY, at)
  if (state === 'dead') {
    assert.deepEqual(answer, { result: 'created', dueAt: NOW, tally: 1 })
    assert.deepEqual([entry.slot, entry.next.payload, entry.state], [at, '"new"', 'live'])
  } else {
    assert.deepEqual(answer, { result: 'kept', dueAt: before.next.dueAt, tally: 1 })
    assert.deepEqual(entry, before)
  }
}

const inModeEach: Case[] = (['waiting', 'due', 'dead', 'backing off'] as const).flatMap((state) =>
  (['earliest', 'replace', 'keep'] as const).map((onConflict) => ({
    title: `[${state === 'dead' ? 'M2' : 'M8'}] in mode each a put, ${onConflict}, of a slot that is ${state}`,
    run: (subject) => playEach(state, onConflict, subject),
  })),
)

const complete: Case = {
  title: '[M1] the table has a cell for every state, time and rule',
  run: async () => {
    const cells = PUT_TABLE.flatMap(({ state, times, onConflict }) =>
      times.map((time) => `${state}/${time}/${onConflict}`),
    )
    const wanted = CELL_STATES.length * Object.keys(CELL_TIMES).length * 3
    assert.equal(new Set(cells).size, wanted)
    assert.equal(cells.length, wanted)
  },
}

export const putTableCases: Case[] = [complete, ...inModeOne, ...inModeEach]
