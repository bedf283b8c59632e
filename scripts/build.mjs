// Builds dist from src: tsc for the TypeScript, a plain copy for the .sql files that stand beside it. Plain JavaScript, as
// setup.mjs is: `npm start` calls it to run what the package ships. A build is made apart and put in place when it is
// whole, with a stamp of what it was made from, and one at a time.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pinnedNode, root, underLock } from './setup.mjs'

const dist = join(root, 'dist')
const fresh = join(root, 'dist.new')
const stampName = '.stamp'

/** Costs some ten milliseconds when nothing changed. */
export async function buildIfChanged() {
  if (isBuilt()) return
  await underLock(() => {
    if (isBuilt()) return
    process.stderr.write('setup: building dist\n')
    build()
  })
}

function isBuilt() {
  try {
    return readFileSync(join(dist, stampName), 'utf8') === wantedStamp()
  } catch {
    return false
  }
}

function build() {
  const stamp = wantedStamp()
  rmSync(fresh, { recursive: true, force: true })
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(pinnedNode, [compiler, '-p', 'tsconfig.build.json', '--outDir', fresh], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) throw new Error('build: tsc failed, see above.')
  for (const file of filesOf(join(root, 'src')).filter((name) => name.endsWith('.sql'))) {
    const place = join(fresh, relative(join(root, 'src'), file))
    mkdirSync(join(place, '..'), { recursive: true })
    copyFileSync(file, place)
  }
  writeFileSync(join(fresh, stampName), stamp)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
}

/** Files are known by name, size and time. */
function wantedStamp() {
  const others = [
    'package-lock.json',
    'package.json',
    'scripts/build.mjs',
    'tsconfig.build.json',
    'tsconfig.json',
  ]
  const hash = createHash('sha256')
  for (const file of [...others.map((name) => join(root, name)), ...filesOf(join(root, 'src'))]) {
    const { size, mtimeMs } = statSync(file)
    hash.update(`${relative(root, file)} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/** Every file of a folder and those in it; the oldest Node that runs this cannot list them by itself. */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesOf(path) : [path]
  })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await underLock(build).catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
}
