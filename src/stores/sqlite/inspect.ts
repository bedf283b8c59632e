// What a SQLite store finds of its settings, its file and its disk. Changes nothing.
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../errors.ts'
import type { Finding } from '../../store.ts'
import { type Database, latestVersion } from './database.ts'

/** Less than this is soon full: a log may grow to 64 MiB before it is copied into the file. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024

export async function inspect(database: Database): Promise<Finding[]> {
  const folder = dirname(database.path)
  return [
    { check: 'schema', ok: true, detail: `version ${latestVersion()}`, remedy: null },
    journalFinding(database),
    await writableFinding('file', database.path),
    // The log and its index stand beside the file.
    await writableFinding('folder', folder),
    await roomFinding(folder),
  ]
}

/** With a log commits are synced beside the next ones; without it each is, before it ends, and that is slow. */
function journalFinding(database: Database): Finding {
  const mode = database.journalMode()
  const ok = mode === 'wal'
  return {
    check: 'durability',
    ok,
    detail: `journal_mode ${mode}`,
    remedy: ok ? null : 'put the file on a local disk, where SQLite can keep its log in shared memory',
  }
}

async function writableFinding(check: string, path: string): Promise<Finding> {
  try {
    await access(path, constants.R_OK | constants.W_OK)
    return { check, ok: true, detail: `${path} can be written`, remedy: null }
  } catch (error) {
    const remedy = `give the user of this process the right to write ${path}`
    return { check, ok: false, detail: messageOf(error), remedy }
  }
}

async function roomFinding(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const ok = free >= LEAST_FREE_BYTES
  return {
    check: 'room',
    ok,
    detail: `${Math.floor(free / (1024 * 1024))} MiB free on the disk of ${folder}`,
    remedy: ok ? null : 'free some disk space, or move the store to a larger disk',
  }
}
