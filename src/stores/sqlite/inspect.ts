// What a SQLite store finds of its settings, its file and its disk. Changes nothing.
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
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
    identityFinding(database),
    await writableFinding('file', database.path),
    // The log and its index are in the folder of the file.
    await writableFinding('folder', folder),
    await privacyFinding(database.path),
    await roomFinding(folder),
  ]
}

/** With a log, commits are synced while the next ones run; without it each is synced before it ends, which is slow. */
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

function identityFinding({ identity }: Database): Finding {
  const replaced = identity.replaced()
  const detail = replaced?.message ?? 'the file is the one that was opened'
  return { check: 'identity', ok: replaced === null, detail, remedy: replaced?.remedy ?? null }
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

/** What others may do with a file or a folder, by its mode. */
const OTHERS = 0o077

/** Whether other users of the machine can read or change what is stored. A folder that they cannot enter hides its files. */
async function privacyFinding(file: string): Promise<Finding> {
  const folder = dirname(file)
  if (((await stat(folder)).mode & OTHERS) === 0) {
    return { check: 'privacy', ok: true, detail: `${folder} is open to its user alone`, remedy: null }
  }
  const files = [file, `${file}-wal`, `${file}-shm`]
  const found = await Promise.all(files.map((each) => stat(each).catch(() => null)))
  const open = files.filter((_, nth) => ((found[nth]?.mode ?? 0) & OTHERS) !== 0)
  const ok = open.length === 0
  return {
    check: 'privacy',
    ok,
    detail: ok ? `${file} is open to its user alone` : `other users have rights on ${open.join(', ')}`,
    remedy: ok ? null : `take them away: chmod 600 ${open.join(' ')}`,
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
