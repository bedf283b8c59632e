// A run that ends its process stands beside runs that do no harm, in its lane and in another; whenever the process has ended
// another is started. Judged by what handlers noted in a file, and by the store's own tables.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headrace } from '../../src/headrace.ts'
import { until } from './until.ts'

export interface PoisonStore {
  /** Of an empty store. */
  address: string
  /** How many entries are neither done nor dead, as the table says. */
  live(): Promise<number>
  /** Who is dead, and why, as the table says. */
  deaths(): Promise<{ key: string; reason: string }[]>
}

export interface PoisonOptions {
  store: PoisonStore
  /** A folder for the file of the handlers. */
  folder: string
  innocents: number
  /** How long an innocent run takes. */
  takesMs: number
  progress?(text: string): void
}

export interface Poisoned {
  /** How many processes the poison ended. */
  crashes: number
  /** Who is dead, and why. */
  deaths: string[]
  /** How many runs are left that are neither done nor dead. */
  left: number
  /** How many innocents no handler has seen to their end. */
  missing: number
  tookMs: number
}

/** How often a run may end its process before it is given up. [X46] */
export const MOST_CRASHES = 3

/** Whether the poison alone is dead, after its limit, and everything else done. */
export function isPoisonAlone({ crashes, deaths, left, missing }: Omit<Poisoned, 'tookMs'>): boolean {
  return crashes === MOST_CRASHES && left === 0 && missing === 0 && deaths.join() === 'poison: crashed'
}

const MOST_STARTS = 20
/** The code with which the poison ends its process. */
const POISONED = 7

export async function poison(options: PoisonOptions): Promise<Poisoned> {
  const { store, folder, innocents, takesMs, progress } = options
  const began = performance.now()
  const names = Array.from({ length: innocents }, (_, nth) => `innocent-${nth}`)
  await putAll(store, names)
  const ended = join(folder, 'ended')
  writeFileSync(ended, '')
  const startWorker = (): ChildProcess =>
    spawnWorker([store.address, String(takesMs), String(innocents + 1), ended])
  let [starts, crashes, child] = [1, 0, startWorker()]
  try {
    // Every innocent may have to run alone, and every crash costs a lease or two.
    await until(
      'all is done or dead',
      async () => {
        if (child.exitCode !== null && starts < MOST_STARTS) {
          starts += 1
          // Another code: it could not start, since the machine has too much to do.
          if (child.exitCode === POISONED) crashes += 1
          progress?.(`${crashes} crashes, ${await store.live()} runs left`)
          child = startWorker()
        }
        return (await store.live()) === 0
      },
      (innocents + 10) * takesMs * 2 + 240_000,
    )
    const deaths = (await store.deaths()).map(({ key, reason }) => `${key}: ${reason}`)
    const seen = new Set(readFileSync(ended, 'utf8').split('\n'))
    const missing = names.filter((name) => !seen.has(name)).length
    return { crashes, deaths, left: await store.live(), missing, tookMs: performance.now() - began }
  } finally {
    if (child.exitCode === null) {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
  }
}

/** The innocents in two lanes, and the poison in one of them. */
async function putAll({ address }: PoisonStore, names: readonly string[]): Promise<void> {
  const race = await headrace({ store: address, partitions: 8, join: 'no' })
  try {
    const puts = names.map((key, nth) => {
      return { key, lane: nth % 2 === 0 ? ('normal' as const) : ('bulk' as const) }
    })
    await race.pool('work').putAll([...puts, { key: 'poison', lane: 'bulk' }])
  } finally {
    await race.stop()
  }
}

/** Not waited for: it may have ended before it could say that it runs. */
function spawnWorker(args: readonly string[]): ChildProcess {
  const program = join(import.meta.dirname, 'work-poison.ts')
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}
