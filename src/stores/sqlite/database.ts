// One SQLite file: opening it, its settings, its migrations, its prepared statements, and its errors.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Clock } from '../../clock.ts'
import { HeadraceError, assert, messageOf } from '../../errors.ts'
import { loadQueries } from '../../sql.ts'
import { FileIdentity, OPENINGS } from './file-identity.ts'

const MIGRATIONS = new URL('./migrations/', import.meta.url)
/** 'HRAC': marks our files. */
const APPLICATION_ID = 0x48524143
const OPEN_WITHIN_MS = 5000

/**
 * WAL and synchronous NORMAL: SQLite syncs the log before it copies it, and syncer.ts before anything is answered.
 * busy_timeout 0: waiting inside SQLite would block the event loop; the session waits outside. The log is copied into
 * the file by checkpointer.ts; should that lag behind, SQLite does it by itself when 64 MB have gathered.
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA busy_timeout = 0;
  PRAGMA cache_size = -32768;
  PRAGMA wal_autocheckpoint = 16000;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;
`

/** The files of named queries, in this folder. */
const NOUNS = 'pool dead payload progress journal log session control fence roster'
export const QUERY_FILES = NOUNS.split(' ').map((noun) => `${noun}.sql`)

type Command = 'BEGIN' | 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK'

export class Database {
  readonly path: string
  /** The schema version that the file had when it was opened. */
  readonly foundVersion: number
  /** Whether the file at the path is still the one that was opened. */
  readonly identity: FileIdentity
  readonly #connection: DatabaseSync
  readonly #queries: ReadonlyMap<string, string>
  readonly #statements = new Map<string, StatementSync>()
  readonly #commands = new Map<Command, StatementSync>()
  readonly #dataVersion: StatementSync

  private constructor(path: string, connection: DatabaseSync, found: { version: number; openings: number }) {
    this.path = path
    this.foundVersion = found.version
    this.#connection = connection
    this.#queries = new Map(QUERY_FILES.flatMap((file) => [...loadQueries(new URL(file, import.meta.url))]))
    this.#dataVersion = connection.prepare('PRAGMA data_version')
    this.identity = new FileIdentity({ path, log: this.log(), openings: found.openings })
  }

  /** Opens and migrates; several processes may do so at once. */
  static async open(path: string, clock: Clock): Promise<Database> {
    const file = resolve(path)
    const connection = connect(file)
    try {
      // Before the settings, which would write to another application's file.
      await patiently(clock, () => refuseForeign(file, connection))
      await patiently(clock, () => connection.exec(SETTINGS))
      if (journalMode(connection) !== 'wal') connection.exec('PRAGMA synchronous = FULL')
      const version = pragma(connection, 'user_version')
      await patiently(clock, () => migrate(file, connection))
      let openings = 0
      await patiently(clock, () => void (openings = countOpening(connection)))
      return new Database(file, connection, { version, openings })
    } catch (error) {
      connection.close()
      throw toHeadraceError(error, file)
    }
  }

  /** The prepared statement of a named query. Rows come as objects. */
  statement(name: string): StatementSync {
    let statement = this.#statements.get(name)
    if (statement === undefined) {
      const query = this.#queries.get(name)
      assert(query !== undefined, `there is no query ${name}`)
      statement = this.#connection.prepare(query)
      this.#statements.set(name, statement)
    }
    return statement
  }

  exec(command: Command): void {
    let statement = this.#commands.get(command)
    if (statement === undefined) this.#commands.set(command, (statement = this.#connection.prepare(command)))
    statement.run()
  }

  /** Changes when another connection has committed; costs about 2 µs. */
  dataVersion(): number {
    return this.#dataVersion.get()?.['data_version'] as number
  }

  /** `wal` where the file can have one. */
  journalMode(): string {
    return journalMode(this.#connection)
  }

  /** The file that commits go to; null where there is none, and each commit is synced before it ends. */
  log(): string | null {
    if (this.journalMode() !== 'wal') return null
    // Beside the file itself, which the path may only link to.
    return `${String(this.#connection.prepare('PRAGMA database_list').get()?.['file'])}-wal`
  }

  /** How many rows this connection has changed so far, also in what was rolled back. */
  changes(): number {
    return this.statement('changes_made').get()?.['changes'] as number
  }

  /** Copies what it can of the log into the file. */
  checkpoint(): void {
    copyLog(this.#connection)
  }

  close(): void {
    this.#statements.clear()
    this.#commands.clear()
    this.#connection.close()
  }
}

/** Copies what it can of the log into the file; answers its pages. What fails now is copied by a later one. */
export function copyLog(connection: DatabaseSync): number {
  try {
    return connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['log'] as number
  } catch (error) {
    if (!isRefusal(error) && !isBusy(error)) throw error
    return 0
  }
}

/** The number of the newest migration in this package. */
export function latestVersion(): number {
  return migrationFiles().length
}

function connect(file: string): DatabaseSync {
  try {
    makeFolder(dirname(file))
    makeFile(file)
    return new DatabaseSync(file)
  } catch (error) {
    throw toHeadraceError(error, file)
  }
}

/** Step by step: mkdirSync with `recursive` spins for ever where a folder cannot be made, as under /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** For its user alone: payloads may be secret. SQLite gives the log and its index the mode of the file. */
function makeFile(file: string): void {
  if (existsSync(file)) return
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

async function patiently(clock: Clock, work: () => void): Promise<void> {
  const deadline = clock.mono() + OPEN_WITHIN_MS
  for (;;) {
    try {
      work()
      return
    } catch (error) {
      if (!isBusy(error) || clock.mono() > deadline) throw error
      await clock.sleep(5 + clock.random() * 20)
    }
  }
}

function migrate(file: string, connection: DatabaseSync): void {
  refuseForeign(file, connection)
  if (pragma(connection, 'user_version') === latestVersion()) return
  connection.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have migrated while this one waited for the lock.
    for (let version = pragma(connection, 'user_version'); version < latestVersion(); version++) {
      connection.exec(readFileSync(new URL(migrationFiles()[version] as string, MIGRATIONS), 'utf8'))
      connection.exec(`PRAGMA user_version = ${version + 1}`)
    }
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    connection.exec('COMMIT')
  } catch (error) {
    rollBack(() => connection.exec('ROLLBACK'))
    throw error
  }
}

/** Counts this opening, and copies that into the file itself, where an earlier copy of it has fewer. [J9] */
function countOpening(connection: DatabaseSync): number {
  const run = (query: string): number =>
    connection.prepare(OPENINGS.get(query) ?? '').get()?.['number'] as number
  try {
    const number = run('count_opening')
    copyLog(connection)
    return number
  } catch (error) {
    // A full disk can be read all the same.
    if (!isRefusal(error)) throw error
    return run('read_openings')
  }
}

function refuseForeign(file: string, connection: DatabaseSync): void {
  const version = pragma(connection, 'user_version')
  const application = pragma(connection, 'application_id')
  const tables = connection.prepare('PRAGMA table_list').all().length
  // An empty file lists only sqlite_schema and sqlite_temp_schema.
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0 || tables > 2)) {
    throw new HeadraceError('store_failed', `${file} is the database of another application`, {
      remedy: 'choose another path for the store',
    })
  }
  if (version > latestVersion()) {
    throw new HeadraceError(
      'store_newer',
      `${file} has schema version ${version}, this Headrace knows versions up to ${latestVersion()}`,
      { remedy: 'upgrade this Headrace, or open another store' },
    )
  }
}

function migrationFiles(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
}

function journalMode(connection: DatabaseSync): string {
  return String(connection.prepare('PRAGMA journal_mode').get()?.['journal_mode'])
}

function pragma(connection: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name] as number
}

/** SQLite has rolled back by itself after some errors; a second ROLLBACK then complains, to no harm. */
export function rollBack(roll: () => void): void {
  try {
    roll()
  } catch (error) {
    if (!messageOf(error).includes('no transaction is active')) throw error
  }
}

const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
/** Too big, against a constraint, or of another type. */
const REFUSED = [18, 19, 20]
/** Extended: the index of the log could not be made longer, which is a matter of room, though SQLite does not call it so. */
const NO_ROOM_FOR_INDEX = 4874

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === BUSY || code === LOCKED
}

/** The file or its disk does not take writes, whatever is written. */
export function isRefusal(error: unknown): boolean {
  return [READONLY, IO_ERROR, CORRUPT, FULL, CANNOT_OPEN].includes(primaryCode(error) ?? 0)
}

/** The low byte of SQLite's extended result code; null for anything else that was thrown. */
function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode & 0xff
}

/** The one place where a SQLite error becomes ours; what is ours already, or no store's, passes. */
export function toHeadraceError(error: unknown, file: string): unknown {
  const code = primaryCode(error)
  if (error instanceof HeadraceError || (code === null && !isFileError(error))) return error
  if (isNoRoom(error)) {
    return new HeadraceError('store_full', `there is no room left for ${file}`, {
      cause: error,
      remedy: 'free some disk space; nothing acknowledged was lost, and work goes on when there is room',
    })
  }
  if (isBusy(error)) {
    return new HeadraceError('store_busy', `${file} is locked by another process`, {
      cause: error,
      remedy: 'try again; if it lasts, look for a process that holds a transaction open on the file',
    })
  }
  if (REFUSED.includes(code ?? 0)) {
    return new HeadraceError('store_refused', `${file}: ${messageOf(error)}`, {
      cause: error,
      remedy: 'look for a check or a trigger of your own, or a value that is too large',
    })
  }
  return new HeadraceError('store_failed', `${file}: ${messageOf(error)}`, {
    cause: error,
    remedy: 'check that the file and its folder can be read and written, and that the disk is sound',
  })
}

function isNoRoom(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown }
  return primaryCode(error) === FULL || errcode === NO_ROOM_FOR_INDEX || code === 'ENOSPC'
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
