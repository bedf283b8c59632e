// The files of the repository: tracked, or new and not ignored.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { File } from './rule.ts'

const root = join(import.meta.dirname, '../..')
const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']

export function listTree(): string[] {
  return execFileSync('git', listing, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\0')
    .filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true)
}

export function readTree(): File[] {
  return listTree().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}
