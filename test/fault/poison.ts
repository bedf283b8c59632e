// A run that ends its process stands beside runs that do no harm, in its lane and in another; whenever the process has ended
// another is started.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { headrace } from '../../src/headrace.ts'
import { until } from './until.ts'

export interface PoisonOptions {
  /** The address of an empty store. */
  store: string
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
  tookMs: number
}

/** How often a run may end its process before it is given up. [X46] */
export const MOST_CRASHES = 3

/** Whether the poison alone is dead, after its limit, and everything else done. */
export function isPoisonAlone({ crashes, deaths, left }: Omit<Poisoned, 'tookMs'>): boolean {
  return crashes === MOST_CRASHES && left === 0 && deaths.join() === 'poison: crashed'
}

const MOST_STARTS = 20
/** The code with which the poison ends its process. */
const POISONED = 7

export async function poison({ store, innocents, takesMs, progress }: PoisonOptions): Promise<Poisoned> {
  const began = performance.now()
  const race = await headrace({ store, partitions: 8, join: 'no' })
  const pool = race.pool('work')
  const keys = Array.from({ length: innocents }, (_, nth) => {
    return { key: `innocent-${nth}`, lane: nth % 2 === 0 ? ('normal' as const) : ('bulk' as const) }
  })
  await pool.putAll([...keys, { key: 'poison', lane: 'bulk' }])
  const left = async (): Promise<number> => {
    const { waiting, due, 'backing-off': backingOff } = await pool.count()
    return waiting + due + backingOff
  }
  let [starts, crashes, child] = [1, 0, startWorker(store, takesMs, innocents + 1)]
  try {
    // Every innocent may have to run alone, and every crash costs a lease or two.
    await until(
      'all is done or dead',
      async () => {
        if (child.exitCode !== null && starts < MOST_STARTS) {
          starts += 1
          // Another code: it could not start, since the machine has too much to do.
          if (child.exitCode === POISONED) crashes += 1
          progress?.(`${crashes} crashes, ${await left()} runs left`)
          child = startWorker(store, takesMs, innocents + 1)
        }
        return (await left()) === 0
      },
      (innocents + 10) * takesMs * 2 + 240_000,
    )
    const deaths = (await pool.dead.list({ limit: 1000 })).map(({ key, reason }) => `${key}: ${reason}`)
    return { crashes, deaths, left: await left(), tookMs: performance.now() - began }
  } finally {
    if (child.exitCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    await race.stop()
  }
}

/** Not waited for: it may have ended before it could say that it runs. */
function startWorker(store: string, takesMs: number, concurrency: number): ChildProcess {
  const program = join(import.meta.dirname, 'work-poison.ts')
  const args = [program, store, String(takesMs), String(concurrency)]
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
}
