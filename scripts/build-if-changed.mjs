// Builds dist when the sources are not those it was built from. Plain JavaScript, as setup.mjs is, after which it runs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedNode, root } from './setup.mjs'

const stampFile = join(root, '.build-stamp')

/** Costs some ten milliseconds when nothing changed: files are known by name, size and time. */
export function buildIfChanged() {
  const stamp = wantedStamp()
  if (existsSync(join(root, 'dist')) && readStamp() === stamp) return
  process.stderr.write('setup: building dist\n')
  const { status } = spawnSync(pinnedNode, [join(root, 'scripts/build.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) throw new Error('setup: the build failed, see above.')
  writeFileSync(stampFile, stamp)
}

function wantedStamp() {
  const sources = readdirSync(join(root, 'src'), { recursive: true }).map((name) => join('src', name))
  const files = [...sources, 'package.json', 'tsconfig.json', 'tsconfig.build.json']
  const hash = createHash('sha256')
  for (const name of files.sort((a, b) => (a < b ? -1 : 1))) {
    const { size, mtimeMs } = statSync(join(root, name))
    hash.update(`${name} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function readStamp() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined
}
