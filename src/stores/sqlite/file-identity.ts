// Whether the file at the path is still the one that was opened: the same file, with the log it was opened with, and not
// an earlier copy that was written over it. [J9]
import { type BigIntStats, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { HeadraceError, messageOf } from '../../errors.ts'
import { loadQueries } from '../../sql.ts'

/** The queries that count openings. */
export const OPENINGS = loadQueries(new URL('./session.sql', import.meta.url))

interface Opened {
  path: string
  /** Null where there is none. */
  log: string | null
  /** How often the file was opened, this time included, and counted on while it was open. */
  openings: number
}

const COUNT_EVERY_MS = 60_000

/** SQLite's codes of what no reader meets in the file that was opened: no such table, malformed, no database. */
const OTHER_FILE = new Set([1, 11, 26])

export class FileIdentity {
  readonly #path: string
  readonly #files: readonly { path: string; found: BigIntStats | undefined }[]
  #openings: number
  /** When the file had last been changed at the last look inside; null: there was none yet. */
  #changedAt: bigint | null = null
  /** When it was last counted on, by the process's own clock; null: since the opening, not yet. */
  #countedAt: number | null = null

  constructor({ path, log, openings }: Opened) {
    this.#path = path
    this.#openings = openings
    this.#files = [path, ...(log === null ? [] : [log])].map((each) => ({ path: each, found: statOf(each) }))
  }

  /** Whether a beat shall count on, so that a copy made since the opening has a smaller number, too: once a minute. */
  isCountDue(now: number): boolean {
    this.#countedAt ??= now
    if (now < this.#countedAt + COUNT_EVERY_MS) return false
    this.#countedAt = now
    return true
  }

  /** It was counted on to this number, and that is committed. */
  counted(number: number): void {
    this.#openings = Math.max(this.#openings, number)
  }

  /** What became of the file, by its place on the disk; null: it is the same. Takes a few microseconds. */
  moved(): HeadraceError | null {
    for (const { path, found } of this.#files) {
      const now = statOf(path)
      if (now === undefined || now.nlink === 0n) return this.#error(`${path} is gone`)
      if (found !== undefined && (now.ino !== found.ino || now.dev !== found.dev)) {
        return this.#error(`${path} is another file than the one that was opened`)
      }
    }
    return null
  }

  /** The same as `replaced`, but it looks inside only where the file was written since the last look. For every pulse. */
  replacedSince(): HeadraceError | null {
    const moved = this.moved()
    if (moved !== null) return moved
    // Read before the look: what is written during it is looked at by the next one.
    const changedAt = statOf(this.#path)?.ctimeNs ?? null
    if (changedAt !== null && changedAt === this.#changedAt) return null
    this.#changedAt = changedAt
    return this.replaced()
  }

  /** The same, and whether an earlier copy was written over it: by a connection of its own, which has nothing in memory. */
  replaced(): HeadraceError | null {
    const moved = this.moved()
    if (moved !== null) return moved
    let connection: DatabaseSync | null = null
    try {
      connection = new DatabaseSync(this.#path, { readOnly: true })
      const openings = connection.prepare(OPENINGS.get('read_openings') ?? '').get()?.['number'] as number
      if (openings < this.#openings) {
        return this.#error(
          `${this.#path} is an earlier copy: its count of openings is ${openings}, and was ${this.#openings}`,
        )
      }
      this.counted(openings)
      return null
    } catch (error) {
      // Anything else, such as a file that another process recovers, is met by the calls themselves.
      const { errcode } = error as { errcode?: number }
      if (!OTHER_FILE.has((errcode ?? 0) & 0xff)) return null
      return this.#error(`${this.#path} is another file than the one that was opened: ${messageOf(error)}`)
    } finally {
      connection?.close()
    }
  }

  #error(message: string): HeadraceError {
    const remedy =
      `stop all processes that use it, put the right file in place without ${this.#path}-wal and ${this.#path}-shm ` +
      'of another one, and start again; docs/operating/backup.md says how to restore'
    return new HeadraceError('store_replaced', message, { remedy })
  }
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}
