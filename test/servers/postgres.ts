// PostgreSQL servers for tests: a fresh cluster in a temporary folder, on a free port of loopback, stopped at the end.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { findBinaries } from './binaries.ts'

export interface PostgresServer {
  version: number
  port: number
  /** Address of the database, with room for parameters. */
  url(parameters?: Record<string, string>): string
  /** Runs statements as the superuser, beside the store. */
  run(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Stops it at once, as a machine would that restarts. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Copies it as it is now. A base backup has its port, and is started in its place; a replica runs, and follows it. */
  backUp(kind: 'base' | 'replica'): Promise<PostgresServer>
  /** Dumps a schema as SQL text. */
  dump(schema: string): string
  /** Drops a schema, and runs what was dumped: statement by statement, as psql does. */
  restore(schema: string, dumped: string): Promise<void>
  /** Stops it, and removes its cluster. */
  remove(): Promise<void>
}

export interface ServerOptions {
  /** Whether commits wait for the disk; off where thousands of answers are compared. */
  fsync?: boolean
  /** More settings of the server, by their names. */
  settings?: Record<string, string | number>
  /** Libraries that the server loads, such as pg_stat_statements. */
  preload?: string
}

const STARTS_WITHIN_MS = 30_000
/** As root the server refuses to run. */
const NOBODY = 65_534
export const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Null: there is none, which is said in one line. The variable HEADRACE_TEST_POSTGRES_15 names one that runs. */
export async function startPostgres(
  version: number,
  options: ServerOptions = {},
): Promise<PostgresServer | null> {
  const given = process.env[`HEADRACE_TEST_POSTGRES_${version}`]
  if (given !== undefined) return foreignServer(version, given)
  const binaries = findBinaries(version)
  if (binaries === null) {
    process.stderr.write(
      `PostgreSQL ${version} IS NOT HERE: its tests are skipped. npm run provision installs it.\n`,
    )
    return null
  }
  const folder = newFolder()
  const data = join(folder, 'data')
  const args = [
    '-D',
    data,
    '-U',
    'headrace',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]
  execFileSync(join(binaries.folder, 'initdb'), args, { ...account, stdio: 'pipe', cwd: folder })
  const server = new Cluster({
    version,
    folder,
    program: join(binaries.folder, 'postgres'),
    port: await freePort(),
    fsync: options.fsync ?? true,
    settings: options.settings ?? {},
    preload: options.preload ?? '',
  })
  await server.start()
  return server
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-cluster-'))
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid)
  return folder
}

interface ClusterParts {
  version: number
  folder: string
  program: string
  port: number
  fsync: boolean
  settings: Record<string, string | number>
  preload: string
}

class Cluster implements PostgresServer {
  readonly version: number
  readonly port: number
  readonly #parts: ClusterParts
  #child: ChildProcess | null = null
  /** A process that ends early leaves neither server nor cluster. */
  readonly #atExit = (): void => {
    this.#child?.kill('SIGQUIT')
    rmSync(this.#parts.folder, { recursive: true, force: true })
  }

  constructor(parts: ClusterParts) {
    process.once('exit', this.#atExit)
    this.version = parts.version
    this.port = parts.port
    this.#parts = parts
  }

  url(parameters: Record<string, string> = {}): string {
    return urlOf(`postgres://headrace@127.0.0.1:${this.port}/postgres`, parameters)
  }

  run(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return runOn(this.url(), text, values)
  }

  async start(): Promise<void> {
    const { program, folder, port, fsync, preload, settings: more } = this.#parts
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 200,
      fsync: fsync ? 'on' : 'off',
      // Left to the file where it is on, so that a test can change it.
      ...(fsync ? {} : { synchronous_commit: 'off' }),
      shared_preload_libraries: preload,
      log_min_messages: 'fatal',
      ...more,
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(program, ['-D', join(folder, 'data'), ...flags], {
      ...account,
      cwd: folder,
      stdio: 'ignore',
    })
    this.#child = child
    await until(
      () => this.run('select'),
      () => child.exitCode,
    )
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
  }

  async backUp(kind: 'base' | 'replica'): Promise<PostgresServer> {
    const folder = newFolder()
    const follows = kind === 'replica' ? ['-R'] : []
    const flags = ['-D', join(folder, 'data'), '--checkpoint=fast', '--no-sync', '-X', 'stream', ...follows]
    this.#client('pg_basebackup', flags)
    const copy = new Cluster({
      ...this.#parts,
      folder,
      port: kind === 'base' ? this.port : await freePort(),
    })
    if (kind === 'replica') await copy.start()
    return copy
  }

  dump(schema: string): string {
    return this.#client('pg_dump', ['-n', schema, 'postgres'])
  }

  async restore(schema: string, dumped: string): Promise<void> {
    // Those who use it may be in the way, more than once.
    await until(() => this.run(`drop schema if exists ${schema} cascade`))
    const child = spawn(this.#nextTo('psql'), [...this.#address, '-q', '-X', 'postgres'], {
      cwd: this.#parts.folder,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    child.stdin?.end(dumped)
    await once(child, 'exit')
  }

  get #address(): string[] {
    return ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'headrace']
  }

  #client(program: string, flags: readonly string[]): string {
    const options = { ...account, cwd: this.#parts.folder, encoding: 'utf8', maxBuffer: 1e9 } as const
    return execFileSync(this.#nextTo(program), [...this.#address, ...flags], options)
  }

  /** A program of the same version: the server itself may be linked to from elsewhere. */
  #nextTo(program: string): string {
    return join(dirname(realpathSync(this.#parts.program)), program)
  }

  async remove(): Promise<void> {
    await this.stop()
    process.off('exit', this.#atExit)
    rmSync(this.#parts.folder, { recursive: true, force: true })
  }

  /** The id of the server's first process. */
  get pid(): number {
    return Number(readFileSync(join(this.#parts.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  }
}

/** One that somebody else started: it is not stopped. */
function foreignServer(version: number, address: string): PostgresServer {
  const refuse = (): Promise<void> => Promise.reject(new Error('this server was not started here'))
  return {
    version,
    port: Number(new URL(address).port),
    url: (parameters = {}) => urlOf(address, parameters),
    run: (text, values = []) => runOn(address, text, values),
    stop: refuse,
    start: refuse,
    backUp: () => Promise.reject(new Error('this server was not started here')),
    dump: () => '',
    restore: refuse,
    remove: () => Promise.resolve(),
  }
}

function urlOf(address: string, parameters: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

async function runOn(address: string, text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await client.end()
  }
}

async function until(
  ready: () => Promise<unknown>,
  exitCode: () => number | null = () => null,
): Promise<void> {
  const deadline = performance.now() + STARTS_WITHIN_MS
  for (;;) {
    try {
      await ready()
      return
    } catch (error) {
      if (performance.now() > deadline || exitCode() !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
