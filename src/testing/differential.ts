// Plays the same seeded operations on two stores and compares every answer. Counts which cells of the put table,
// of reschedule and of the settle table were met, so that a run which tests little fails.
import { deepStrictEqual } from 'node:assert'
import type { Entry } from '../pool/entry.ts'
import { stateOf } from '../pool/entry.ts'
import type { Store } from '../store.ts'
import { type Operation, POOLS, createOperations } from './operations.ts'
import { createRandom } from '../random.ts'
import { Side } from './side.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface DifferentialOptions {
  seed: number
  operations: number
  /** Opens the store that is the measure, and the one that is measured. */
  reference(clock: VirtualClock): Promise<Store>
  subject(clock: VirtualClock): Promise<Store>
  /** Does the subject survive being closed? */
  durable: boolean
}

/** How often each cell was met. */
export type Coverage = Map<string, number>

/** Throws at the first difference, and names the seed and the operation that repeat it. */
export async function compareStores(options: DifferentialOptions, coverage: Coverage): Promise<void> {
  const clock = new VirtualClock(options.seed)
  const choose = createOperations(createRandom(options.seed))
  const run = `run-${options.seed}`
  const left = await Side.open({ open: () => options.reference(clock), run, durable: false })
  const right = await Side.open({ open: () => options.subject(clock), run, durable: options.durable })
  try {
    for (let nth = 0; nth < options.operations; nth += 1) {
      const operation = choose(clock.now())
      await note(left, operation, clock.now(), coverage)
      if (operation.kind === 'advance') await clock.leap(operation.ms)
      const where = `seed ${options.seed}, operation ${nth}: ${JSON.stringify(operation)}`
      same(await left.play(operation), await right.play(operation), where)
    }
    same(await left.inventory(), await right.inventory(), `seed ${options.seed}, at the end`)
  } finally {
    await left.close()
    await right.close()
  }
}

function same(left: unknown, right: unknown, where: string): void {
  try {
    deepStrictEqual(right, left)
  } catch (error) {
    throw new Error(where, { cause: error })
  }
}

async function note(side: Side, operation: Operation, now: number, coverage: Coverage): Promise<void> {
  const cell = await cellOf(side, operation, now)
  if (cell !== null) coverage.set(cell, (coverage.get(cell) ?? 0) + 1)
}

async function cellOf(side: Side, operation: Operation, now: number): Promise<string | null> {
  if (operation.kind === 'put') return putCell(side, operation, now)
  if (operation.kind === 'settle') return settleCell(side, operation)
  if (operation.kind !== 'reschedule') return null
  const entry = await side.find(operation.pool, operation)
  const { mode } = POOLS[operation.pool]
  const { key, slot, at } = operation
  const isTaken =
    mode === 'each' && at !== slot && (await side.find(operation.pool, { key, slot: at })) !== null
  return `reschedule ${mode}: ${cellState(entry, now)}${isTaken ? ', onto another' : ''}`
}

async function putCell(
  side: Side,
  operation: Operation & { kind: 'put' },
  now: number,
): Promise<string | null> {
  const [put] = operation.puts
  if (put === undefined || operation.repeat !== null) return null
  const { mode } = POOLS[operation.pool]
  const at = put.inMs === undefined ? (put.at ?? now) : now + put.inMs
  const entry = await side.find(operation.pool, { key: put.key, slot: mode === 'each' ? at : null })
  const bound = put.longestWaitMs === undefined ? '' : ' within'
  return `put ${mode}: ${cellState(entry, now)}, ${at <= now ? 'now' : 'later'}, ${put.onConflict}${bound}`
}

function cellState(entry: Entry | null, now: number): string {
  if (entry === null) return 'absent'
  return entry.after === null ? stateOf(entry, now) : `${stateOf(entry, now)} with after`
}

async function settleCell(side: Side, operation: Operation & { kind: 'settle' }): Promise<string | null> {
  const run = side.runToSettle(operation)
  if (run === undefined) return null
  const entry = await side.find(operation.pool, run)
  if (entry === null || entry.turn !== run.turn) return `settle: ${operation.outcome.kind}, gone`
  const grown = entry.next.tally > run.seen ? 'grown' : 'as seen'
  return `settle: ${operation.outcome.kind}, ${grown}${entry.after === null ? '' : ', with after'}`
}

/** Every cell that a run must meet. */
export function wantedCells(): string[] {
  const cells: string[] = []
  const rules = ['earliest', 'replace', 'keep']
  const states = ['absent', 'dead', 'waiting', 'due', 'backing-off']
  const withAfter = ['waiting with after', 'due with after', 'backing-off with after']
  for (const rule of rules) {
    for (const time of ['now', 'later']) {
      for (const state of [...states, ...withAfter]) cells.push(`put one: ${state}, ${time}, ${rule}`)
      // In mode each a later slot has not been taken yet, so it can only wait.
      for (const state of time === 'now' ? ['absent', 'dead', 'due', 'backing-off'] : ['absent', 'waiting']) {
        cells.push(`put each: ${state}, ${time}, ${rule}`)
      }
    }
  }
  for (const state of [...states, ...withAfter]) cells.push(`put one: ${state}, later, replace within`)
  for (const state of [...states, ...withAfter]) cells.push(`reschedule one: ${state}`)
  for (const state of ['absent', 'waiting', 'waiting, onto another', 'due'])
    cells.push(`reschedule each: ${state}`)
  for (const outcome of ['done', 'again', 'retry', 'dead', 'cancel']) {
    for (const state of ['gone', 'as seen', 'grown', 'as seen, with after', 'grown, with after']) {
      cells.push(`settle: ${outcome}, ${state}`)
    }
  }
  return cells
}
