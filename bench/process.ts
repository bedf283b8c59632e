// The processes of a bench: servers and workers, each a real process of its own. Whatever happens, none of
// them and none of their folders outlives the bench.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../src/clock.ts'

export interface Server {
  url: string
  stop(): Promise<void>
}

type Message<Answer> = { progress: string } | { answer: Answer }

const ROOT = join(import.meta.dirname, '..')
/** Beside the default store, so that commits go to the disk that a user's would; a temporary folder may be memory. */
const FOLDERS = join(ROOT, '.headrace')
const START_WITHIN_MS = 15_000
const STOP_WITHIN_MS = 30_000
/** Characters of a process's talk that an error quotes. */
const LAST_WORDS = 2000

export class Processes {
  readonly #running = new Set<ChildProcess>()
  readonly #folders = new Set<string>()

  /** `headrace serve` on a new SQLite store and a free port. */
  async serve(): Promise<Server> {
    const folder = this.folder()
    const store = `sqlite:${join(folder, 'headrace.db')}`
    const server = await this.#start(['src/cli/main.ts', 'serve', '--port', '0', '--store', store, '--json'])
    return {
      url: server.url,
      stop: async () => {
        await server.stop()
        this.#remove(folder)
      },
    }
  }

  /** A server of the bench's own, which prints `{"url": …}` when it listens. */
  serveFile(file: string): Promise<Server> {
    return this.#start([file])
  }

  /** Runs a worker to its answer; see child.ts. */
  async run<Answer>(
    file: string,
    input: unknown,
    progress: (text: string) => void = () => undefined,
  ): Promise<Answer> {
    const child = this.#spawn([file, JSON.stringify(input)], ['ignore', 'inherit', 'pipe', 'ipc'])
    const words = lastWords(child)
    let answer: { value: Answer } | null = null
    child.on('message', (message: Message<Answer>) => {
      if ('progress' in message) progress(message.progress)
      else answer = { value: message.answer }
    })
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    const found = answer as { value: Answer } | null
    if (code === 0 && found !== null) return found.value
    throw new Error(`${file} ended with ${signal ?? code} and ${found ? 'an' : 'no'} answer:\n${words()}`)
  }

  /** A new folder that is removed at the end. */
  folder(): string {
    mkdirSync(FOLDERS, { recursive: true })
    const folder = mkdtempSync(join(FOLDERS, 'bench-'))
    this.#folders.add(folder)
    return folder
  }

  /** Ends every process at once and removes every folder. */
  end(): void {
    for (const child of this.#running) child.kill('SIGKILL')
    for (const folder of this.#folders) this.#remove(folder)
  }

  async #start(args: string[]): Promise<Server> {
    const child = this.#spawn(args, ['ignore', 'pipe', 'pipe'])
    const words = lastWords(child)
    const over = new AbortController()
    const url = await Promise.race([
      readUrl(child),
      once(child, 'exit').then(() => null),
      systemClock.sleep(START_WITHIN_MS, over.signal).then(() => null),
    ])
    over.abort()
    if (url === null) throw new Error(`${args[0]} does not serve:\n${words()}`)
    return { url, stop: () => stop(child) }
  }

  #spawn(args: string[], stdio: StdioOptions): ChildProcess {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio })
    this.#running.add(child)
    child.once('exit', () => this.#running.delete(child))
    return child
  }

  #remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true })
    this.#folders.delete(folder)
  }
}

/** The address in the first line of a server's stdout, which is JSON. */
function readUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (data) => {
      text += String(data)
      const end = text.indexOf('\n')
      if (end < 0) return
      child.stdout?.removeAllListeners('data').resume()
      const { url } = JSON.parse(text.slice(0, end)) as { url?: string }
      if (url === undefined) reject(new Error(`no address in ${text}`))
      else resolve(url)
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const over = new AbortController()
  const ended = once(child, 'exit').then(() => over.abort())
  child.kill('SIGTERM')
  await systemClock.sleep(STOP_WITHIN_MS, over.signal)
  child.kill('SIGKILL')
  await ended
}

/** What a process last said on stderr. */
function lastWords(child: ChildProcess): () => string {
  let words = ''
  child.stderr?.on('data', (data) => (words = (words + String(data)).slice(-LAST_WORDS)))
  return () => words
}
