// The race of a pool with an atomic tally: many producers put the same keys that several processes work on, and again and
// again one of these is killed, and another started. Judged by the counts of producers and handlers, and the store's tables.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { createRandom } from '../../src/random.ts'
import { type RaceVerdict, judgeRace, readSaw } from './race-record.ts'
import type { RaceStore } from './race-stores.ts'
import { until } from './until.ts'

export interface RaceOptions {
  kills: number
  seed: number
  producers: number
  drainers: number
  keys: number
  progress?: (text: string) => void
}

type Child = ChildProcess & { stdin: Writable; stdout: Readable }

const PRODUCERS_OF_A_PROCESS = 16
const READY_WITHIN_MS = 60_000
const GOES_ON_WITHIN_MS = 30_000
const EMPTY_WITHIN_MS = 60_000
/** So many runs settle between two kills. */
const RUNS_BETWEEN = 40

export async function racePool(
  store: RaceStore,
  options: RaceOptions,
): Promise<RaceVerdict & { seed: number }> {
  const { seed, keys } = options
  const producers: Child[] = []
  const drainers: Child[] = []
  const folder = mkdtempSync(join(tmpdir(), 'headrace-race-saw-'))
  const saw = join(folder, 'saw')
  writeFileSync(saw, '')
  const startDrainer = (): Promise<void> => start(drainers, 'drain-until-killed.ts', [store.address, saw])
  try {
    // The first one makes the tables, and the pool.
    await startDrainer()
    await store.watch()
    for (let left = options.producers; left > 0; left -= PRODUCERS_OF_A_PROCESS)
      await startProducers(producers, store, [Math.min(left, PRODUCERS_OF_A_PROCESS), keys])
    while (drainers.length < options.drainers) await startDrainer()
    await killAll(store, drainers, { ...options, startDrainer })
    const puts = sum(await Promise.all(producers.map(told)))
    const isEmpty = async (): Promise<boolean> => (await store.left()).size === 0
    await until('nothing is left', isEmpty, EMPTY_WITHIN_MS).catch(() => undefined)
    const [done, dead, left] = [await store.done(), await store.dead(), await store.left()]
    return { seed, ...judgeRace({ puts, done, saw: readSaw(readFileSync(saw, 'utf8')), dead, left }) }
  } finally {
    for (const child of [...producers, ...drainers]) await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function killAll(
  store: RaceStore,
  drainers: Child[],
  { kills, seed, startDrainer, progress }: RaceOptions & { startDrainer(): Promise<void> },
): Promise<void> {
  const random = createRandom(seed)
  for (let nth = 1; nth <= kills; nth += 1) {
    const before = await store.settled()
    const goesOn = async (): Promise<boolean> => (await store.settled()) >= before + RUNS_BETWEEN
    await until(`work goes on before kill ${nth}`, goesOn, GOES_ON_WITHIN_MS)
    await end(drainers.splice(random.below(drainers.length), 1)[0])
    await startDrainer()
    progress?.(`kill ${nth} of ${kills}`)
  }
}

function sum(counts: Record<string, number>[]): Map<string, number> {
  const all = new Map<string, number>()
  for (const each of counts)
    for (const [key, count] of Object.entries(each)) all.set(key, (all.get(key) ?? 0) + count)
  return all
}

function startProducers(
  producers: Child[],
  { address }: RaceStore,
  [count, keys]: [count: number, keys: number],
): Promise<void> {
  return start(producers, 'put-until-told.ts', [address, String(count), String(keys)])
}

/** One more of these, which is among them before it is ready: whatever comes, it is ended with them. */
async function start(children: Child[], program: string, args: string[]): Promise<void> {
  const file = join(import.meta.dirname, program)
  const stdio: StdioOptions = ['pipe', 'pipe', 'inherit', 'ipc']
  const child = spawn(process.execPath, [file, ...args], { stdio }) as Child
  children.push(child)
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(READY_WITHIN_MS) })
}

/** Ends producers, and answers their counts. */
async function told(child: Child): Promise<Record<string, number>> {
  child.stdin.end()
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return JSON.parse(text) as Record<string, number>
}

async function end(child: Child | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
