// Two processes work on one file while a third puts; again and again one of them is killed, and another started.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../src/random.ts'
import { type Headrace, headrace } from '../../src/headrace.ts'
import { until } from './until.ts'

export interface KilledWorkers {
  /** How often each key was put, and the tallies that its settled runs saw. */
  puts: Map<string, number>
  seen: Map<string, number>
  settled: number
}

const WORKERS = 2
const KEYS = 40
const WITHIN_MS = 30_000

export async function killWorkers({ kills, seed }: { kills: number; seed: number }): Promise<KilledWorkers> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-work-'))
  const file = join(folder, 'headrace.db')
  const random = createRandom(seed)
  const race = await headrace({ store: `sqlite:${file}`, partitions: 8, join: 'no' })
  await race.pool('work').open()
  const children = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(file)))
  const producer = startPuts(race, random)
  try {
    for (let nth = 0; nth < kills; nth++) {
      const before = await settledOf(race)
      await until('work goes on', async () => (await settledOf(race)) > before + KEYS, WITHIN_MS)
      await endOf(children.splice(random.below(children.length), 1)[0])
      children.push(await startWorker(file))
    }
    const puts = await producer.end()
    await until('nothing is left', async () => isEmpty(race), WITHIN_MS)
    const deaths = await race.store.pool.browse.deaths('work', 1_000_000)
    const seen = new Map<string, number>()
    for (const { key, seen: tally } of deaths) seen.set(key, (seen.get(key) ?? 0) + tally)
    return { puts, seen, settled: deaths.length }
  } finally {
    await producer.end()
    for (const child of children) await endOf(child)
    await race.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Puts some keys every few milliseconds until it is ended; counts what was answered. */
function startPuts(race: Headrace, random: ReturnType<typeof createRandom>) {
  const puts = new Map<string, number>()
  const over = new AbortController()
  const loop = (async () => {
    while (!over.signal.aborted) {
      const keys = Array.from({ length: 5 }, () => `k${random.below(KEYS)}`)
      await race.pool('work').putAll(keys.map((key) => ({ key, in: random.below(50) })))
      for (const key of keys) puts.set(key, (puts.get(key) ?? 0) + 1)
      await race.clock.sleep(5)
    }
  })()
  const end = async (): Promise<Map<string, number>> => {
    over.abort()
    await loop
    return puts
  }
  return { end }
}

async function startWorker(file: string): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'work-until-killed.ts')
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(WITHIN_MS) })
  return child
}

async function endOf(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function settledOf(race: Headrace): Promise<number> {
  return (await race.store.pool.browse.deaths('work', 1_000_000)).length
}

async function isEmpty(race: Headrace): Promise<boolean> {
  const counts = await race.pool('work').count()
  return counts.waiting + counts.due + counts['backing-off'] === 0
}
