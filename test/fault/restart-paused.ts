// A pool is paused, then everything is killed and started again, the store's server too: nothing of the pool starts before
// it is resumed, and `why` names the pause. Judged by what handlers noted in a file, and by the store's own table.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headrace } from '../../src/headrace.ts'
import type { Pool } from '../../src/pool/pool.ts'
import { ServerProcess, runHeadrace } from './server-process.ts'
import { until } from './until.ts'

export interface PausedStore {
  address: string
  /** Restarts the store's server, where there is one. */
  restart(): Promise<void>
  /** How many entries wait, as the table says. */
  live(): Promise<number>
}

export interface RestartPaused {
  store: PausedStore
  /** A folder for the file of the handlers. */
  folder: string
  keys: number
  restarts: number
  progress?(text: string): void
}

export interface RestartedPaused {
  /** Handlers of the pool that were called before, during and after the pause. */
  before: number
  during: number
  after: number
  /** Keys that never ran, and entries that wait at the end. */
  missing: number
  left: number
  /** Handlers of the pool that was not paused, called during the pause. */
  beside: number
  /** What was answered to "why", over HTTP and on the command line, after each restart. */
  why: string[]
}

/** A member that pulses so long after a pause was answered has heard of it: it trusts what it knew no longer than that. */
const HEARD_MS = 1000
const WITHIN_MS = 60_000
const READY_WITHIN_MS = 30_000
const WORKERS = 2

export async function restartPaused(asked: RestartPaused): Promise<RestartedPaused> {
  const { store, keys, restarts, progress } = asked
  const house = new House(asked)
  const why: string[] = []
  try {
    await house.start()
    await house.put('work', names('early', keys / 2))
    await until('some have run', () => house.calls('work').length >= keys / 10, WITHIN_MS)
    await house.command('pool', 'pause', 'work', '--by', 'ann', '--reason', 'a move')
    await house.hears()
    const before = house.calls('work').length
    await house.put('work', names('late', keys - keys / 2))
    for (let nth = 1; nth <= restarts; nth += 1) {
      await house.kill()
      await store.restart()
      await house.start()
      await house.worksBeside(`beside-${nth}`)
      why.push(...(await house.why(`late-0`)))
      progress?.(`restart ${nth} of ${restarts}`)
    }
    const during = house.calls('work').length - before
    await house.command('pool', 'resume', 'work')
    const left = async (): Promise<number> => store.live()
    await until('all has run', async () => (await left()) === 0, WITHIN_MS).catch(() => undefined)
    const after = house.calls('work').length - before - during
    const ran = new Set(house.calls('work').map(({ key }) => key))
    const all = [...names('early', keys / 2), ...names('late', keys - keys / 2)]
    const missing = all.filter((key) => !ran.has(key)).length
    const beside = house.calls('other').length
    return { before, during, after, missing, left: await left(), beside, why }
  } finally {
    await house.kill()
  }
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, nth) => `${prefix}-${nth}`)
}

interface Call {
  key: string
  pid: string
}

/** A server, and processes that work. */
class House {
  readonly #store: PausedStore
  readonly #file: string
  #server: ServerProcess | null = null
  #workers: ChildProcess[] = []

  constructor({ store, folder }: RestartPaused) {
    this.#store = store
    this.#file = join(folder, 'calls')
    writeFileSync(this.#file, '')
  }

  async start(): Promise<void> {
    const program = join(import.meta.dirname, 'work-and-note.ts')
    const args = [program, this.#store.address, this.#file]
    this.#workers = Array.from({ length: WORKERS }, () =>
      spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
    )
    const signal = AbortSignal.timeout(READY_WITHIN_MS)
    const ready = this.#workers.map((worker) => once(worker, 'message', { signal }))
    const serving = ServerProcess.start({ store: this.#store.address, args: ['--lease', '1s'] })
    // Whichever is not ready, the server is known by then, so that it can be ended.
    const [served] = await Promise.allSettled([serving, ...ready])
    if (served.status === 'fulfilled') this.#server = served.value
    await Promise.all([serving, ...ready])
  }

  /** Ends everything at once. */
  async kill(): Promise<void> {
    const ended = this.#workers
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map((worker) => {
        worker.kill('SIGKILL')
        return once(worker, 'exit')
      })
    await Promise.all([...ended, this.#server?.kill()])
    this.#workers = []
  }

  /** Waits until every member has heard of what was answered before. */
  async hears(): Promise<void> {
    const race = await headrace({ store: this.#store.address, partitions: 8, join: 'no' })
    try {
      const { now } = await race.store.roster.view()
      const haveHeard = async (): Promise<boolean> =>
        (await race.store.roster.view()).members.every(({ heartbeatAt }) => heartbeatAt > now + HEARD_MS)
      await until('every member has heard', haveHeard, WITHIN_MS)
    } finally {
      await race.stop()
    }
  }

  async put(pool: string, keys: readonly string[]): Promise<void> {
    const race = await headrace({ store: this.#store.address, partitions: 8, join: 'no' })
    try {
      await race.pool(pool).putAll(keys.map((key) => ({ key })))
    } finally {
      await race.stop()
    }
  }

  calls(pool: string): Call[] {
    const lines = readFileSync(this.#file, 'utf8').trimEnd().split('\n')
    return lines
      .map((line) => line.split(' '))
      .filter(([name]) => name === pool)
      .map(([, key = '', pid = '']) => ({ key, pid }))
  }

  /** Puts into the other pool until every process has worked on it. */
  async worksBeside(prefix: string): Promise<void> {
    const pids = this.#workers.map(({ pid }) => String(pid))
    const race = await headrace({ store: this.#store.address, partitions: 8, join: 'no' })
    const pool: Pool = race.pool('other')
    let round = 0
    const haveWorked = async (): Promise<boolean> => {
      round += 1
      await pool.putAll(names(`${prefix}-${round}`, 8).map((key) => ({ key })))
      const worked = new Set(this.calls('other').map(({ pid }) => pid))
      return pids.every((pid) => worked.has(pid))
    }
    try {
      await until('every process works', haveWorked, WITHIN_MS)
    } finally {
      await race.stop()
    }
  }

  async command(...args: string[]): Promise<string> {
    const { code, talk } = await runHeadrace([...args, '--server', this.#server?.url ?? ''])
    if (code !== 0) throw new Error(`headrace ${args.join(' ')} ended with ${code}: ${talk}`)
    return talk
  }

  /** What HTTP and the command line say. */
  async why(key: string): Promise<string[]> {
    const { body } = (await this.#server?.get(`/v1/why?pool=work&key=${key}`)) ?? {}
    const told = [body, JSON.parse(await this.command('why', key, '--pool', 'work', '--json'))]
    return told.map((found: { reason: string; evidence: { by: string; reason: string } }) => {
      const { by, reason } = found.evidence
      return `${found.reason} by ${by}: ${reason}`
    })
  }
}
