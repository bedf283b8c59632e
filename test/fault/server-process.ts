// One real `headrace serve`: started on a free port, watched, killed or asked to stop. What it is asked and
// what its file holds is the business of others.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from './until.ts'

export const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'src/cli/main.ts')
/** A start takes half a second; a loaded machine may need many times that. */
const READY_WITHIN_MS = 30_000
const END_WITHIN_MS = 60_000
const MOST_TALK = 100_000

export interface ServeOptions {
  /** The path of the SQLite file. */
  file?: string
  /** The address of a store, where it is no such file. */
  store?: string
  /** Another program than the command line, with the same arguments. */
  main?: string
  args?: readonly string[]
  nodeArgs?: readonly string[]
  env?: Record<string, string>
  /** A program and its arguments that run Node, such as strace. */
  under?: readonly string[]
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
}

interface Life {
  url: string
  ended: Promise<Ended>
  traced: boolean
  talk(): string
}

/** Starts the command line; the caller looks after the process. */
export function spawnHeadrace(args: readonly string[], options: Omit<ServeOptions, 'file' | 'store'> = {}) {
  const { under = [], nodeArgs = [], env = {}, main = MAIN } = options
  const [program = '', ...rest] = [...under, process.execPath, ...nodeArgs, main, ...args] as string[]
  return spawn(program, rest, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export class ServerProcess {
  readonly url: string
  readonly port: number
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>
  readonly #traced: boolean
  readonly #talk: () => string

  private constructor(child: ChildProcess, { ended, url, traced, talk }: Life) {
    this.#talk = talk
    this.#traced = traced
    this.#child = child
    this.#ended = ended
    this.url = url
    this.port = Number(new URL(url).port)
  }

  /** Starts `serve` and answers when it says that it is ready. */
  static async start({ file, store, args = [], ...how }: ServeOptions): Promise<ServerProcess> {
    const address = store ?? `sqlite:${file}`
    const child = spawnHeadrace(['serve', '--json', '--port', '0', '--store', address, ...args], how)
    const ended = endOf(child)
    let talk = ''
    child.stderr.on('data', (data: Buffer) => (talk = (talk + data.toString()).slice(-MOST_TALK)))
    const lines = createInterface(child.stdout)
    const ready = once(lines, 'line').then(([line]) => (JSON.parse(String(line)) as { url: string }).url)
    const url = await Promise.race([ready, ended, after(READY_WITHIN_MS)])
    if (typeof url === 'string') {
      return new ServerProcess(child, { ended, url, traced: how.under !== undefined, talk: () => talk })
    }
    child.kill('SIGKILL')
    throw new Error(`serve was not ready within ${READY_WITHIN_MS} ms, ${JSON.stringify(url)}: ${talk}`)
  }

  /** The server itself, also where another program runs it. */
  get pid(): number {
    const { pid } = this.#child
    if (!this.#traced) return pid as number
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** What it said on stderr, the last of it. */
  get talk(): string {
    return this.#talk()
  }

  /** A signal, if it runs. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) process.kill(this.pid, signal)
  }

  /** Whether it stands still after SIGSTOP. */
  get isStopped(): boolean {
    return /^State:\s+T/m.test(readFileSync(`/proc/${this.pid}/status`, 'utf8'))
  }

  /** SIGKILL at once; answers when the process is gone. */
  kill(): Promise<Ended> {
    this.signal('SIGKILL')
    return this.#ended
  }

  /** SIGTERM; answers how the process ended, or throws when it does not. */
  async terminate(): Promise<Ended & { tookMs: number }> {
    const began = performance.now()
    this.signal('SIGTERM')
    const ended = await Promise.race([this.#ended, after(END_WITHIN_MS)])
    if (ended === null) {
      await this.kill()
      throw new Error(`serve did not end within ${END_WITHIN_MS} ms after SIGTERM`)
    }
    return { ...ended, tookMs: Math.round(performance.now() - began) }
  }

  async get(path: string): Promise<{ status: number; body: unknown }> {
    const response = await fetch(this.url + path, { signal: AbortSignal.timeout(10_000) })
    return { status: response.status, body: await response.json() }
  }

  /** Posts one tick by itself; answers the status. */
  async post(item: string, at: number): Promise<number> {
    const body = JSON.stringify({ item, at: new Date(at).toISOString() })
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(10_000)
    const response = await fetch(`${this.url}/ticks`, { method: 'POST', headers, body, signal })
    await response.body?.cancel()
    return response.status
  }

  /** Memory that the kernel counts for the process, in bytes. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) await this.kill()
  }
}

/** Runs a command to its end; answers its exit code and what it said. */
export async function runHeadrace(args: readonly string[]): Promise<{ code: number | null; talk: string }> {
  const child = spawnHeadrace(args)
  let talk = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (talk += data.toString()))
  const ended = endOf(child)
  await until('the command ends', () => child.exitCode !== null, END_WITHIN_MS).catch(() =>
    child.kill('SIGKILL'),
  )
  return { code: (await ended).code, talk }
}

function endOf(child: ChildProcess): Promise<Ended> {
  return once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }))
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), ms).unref())
}
