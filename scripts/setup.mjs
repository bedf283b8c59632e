// Makes a fresh clone ready: installs the packages of package-lock.json and the pinned Node binary.
// Plain JavaScript without dependencies, because it runs on whatever Node (18 or newer) the machine has.
// Costs a few milliseconds when nothing changed: a stamp in node_modules remembers what was installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = resolve(fileURLToPath(import.meta.url), '../..')
export const pinnedNode = join(root, 'node_modules/node/bin/node')

/** SHA-256 of the Node binaries by version and platform: the package that brings them is not in package-lock.json. */
const hashFile = join(root, 'scripts/node-hashes.json')
const stampFile = join(root, 'node_modules/.headrace-setup')
const lockDirectory = join(root, '.setup-lock')
const lockWaitMs = 10 * 60_000
const lockPollMs = 200
/** npm says why it failed first, and then how it is used, at length. */
const talkLines = 30

/** Resolves when `pinnedNode` and all packages are in place; rejects with a message fit to print. */
export async function setup() {
  if (isReady()) return
  await underLock(async () => {
    if (!isReady()) await install()
  })
}

/** Does what only one process of this folder may do at a time. */
export async function underLock(work) {
  await acquireLock()
  try {
    await work()
  } finally {
    rmSync(lockDirectory, { recursive: true, force: true })
  }
}

function isReady() {
  if (isLinked()) return runsPinnedNode()
  return existsSync(pinnedNode) && readText(stampFile) === wantedStamp()
}

/** A node_modules that is a link belongs to another checkout, which keeps it up to date. */
function isLinked() {
  return lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function wantedStamp() {
  const lock = readFileSync(join(root, 'package-lock.json'))
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform} ${process.arch}\n`
}

function wantedVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.node
}

function runsPinnedNode() {
  const { stdout } = spawnSync(pinnedNode, ['-v'], { encoding: 'utf8' })
  return stdout?.trim() === `v${wantedVersion()}`
}

/** Whether the binary is the recorded one: `same`, `other`, or `unknown` where none is recorded. */
function readsAs() {
  const wanted = JSON.parse(readFileSync(hashFile, 'utf8'))[wantedVersion()]?.[platformName()]
  if (wanted === undefined) return 'unknown'
  if (!existsSync(pinnedNode)) return 'other'
  return createHash('sha256').update(readFileSync(pinnedNode)).digest('hex') === wanted ? 'same' : 'other'
}

function refuseOtherBinary() {
  const binary = readsAs()
  if (binary === 'unknown') {
    say(
      `the Node binary was not checked: ${hashFile} has no hash of ${wantedVersion()} for ${platformName()}`,
    )
  }
  if (binary !== 'other' || !existsSync(pinnedNode)) return
  rmSync(pinnedNode, { force: true })
  throw new Error(
    `setup: the Node binary that npm installed is not the one of ${hashFile} (${wantedVersion()}, ${platformName()}); it was removed.\n` +
      'Check the registry that npm uses; if package.json names a new version, record the SHA-256 of its binary.',
  )
}

function platformName() {
  return `${process.platform}-${process.arch}`
}

async function install() {
  if (isLinked()) {
    throw new Error(
      `setup: node_modules is a link and holds no Node ${wantedVersion()}.\n` +
        'Run npm test in the checkout it points to, or remove the link.',
    )
  }
  if (readText(stampFile) !== wantedStamp()) {
    say('installing packages (npm ci)')
    await npm(['ci'])
  }
  // What is not the recorded binary is never run.
  if (readsAs() === 'other' || !runsPinnedNode()) {
    say(`installing Node ${wantedVersion()} (npm rebuild node)`)
    // A broken binary would come first on the PATH of the very script that replaces it.
    rmSync(pinnedNode, { force: true })
    await npm(['rebuild', 'node', '--ignore-scripts=false'])
  }
  refuseOtherBinary()
  if (!runsPinnedNode()) {
    throw new Error(
      `setup: ${pinnedNode} does not run as v${wantedVersion()} on ${platformName()}.\n` +
        'Remove node_modules and try again; if it stays, this platform has no such Node binary on npm.',
    )
  }
  writeFileSync(stampFile, wantedStamp())
}

/** Runs npm with its talk kept back, and shows that talk only when npm fails. */
async function npm(args) {
  const [command, ...before] = npmCommand()
  const env = { ...process.env, PATH: pathWithoutPackages() }
  // npm run -s hands its silence down; the reason of a failure must be heard all the same.
  const child = spawn(command, [...before, ...args, '--loglevel=error'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  let talk = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (talk += data))
  const ending = await new Promise((done) => {
    child.once('error', (error) => done(error.message))
    child.once('close', (code, signal) => done(signal ?? code))
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop)
  if (ending === 0) return
  throw new Error(
    `${talk.split('\n').slice(0, talkLines).join('\n')}\nsetup: npm ${args.join(' ')} failed (${ending}).\n` +
      'It needs npm on the PATH, its registry within reach and a writable folder; then run the same command again.',
  )
}

/** The npm that started us, on the Node that runs it; else the one on the PATH. */
function npmCommand() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  const usable = script?.endsWith('.js') && node && existsSync(node) && !node.startsWith(root)
  return usable ? [node, script] : ['npm']
}

/** npm ci deletes node_modules while it runs, so neither npm nor its Node may come from there. */
function pathWithoutPackages() {
  const entries = (process.env.PATH ?? '').split(delimiter)
  return entries.filter((entry) => !entry.startsWith(join(root, 'node_modules'))).join(delimiter)
}

/** Only mkdir decides who installs; everyone else waits until the lock is gone or its owner is dead. */
async function acquireLock() {
  for (let waitedMs = 0; waitedMs < lockWaitMs; waitedMs += lockPollMs) {
    if (makeDirectory(lockDirectory) || inheritLock()) {
      writeFileSync(join(lockDirectory, 'pid'), String(process.pid))
      return
    }
    if (waitedMs === 0) say('waiting for another setup of this folder')
    await delay(lockPollMs)
  }
  throw new Error(
    `setup: another setup holds ${lockDirectory} for ${lockWaitMs / 60_000} minutes.\n` +
      'If none is running, remove that folder and try again.',
  )
}

/** One heir per dead owner: the second mkdir of the same name fails. */
function inheritLock() {
  const owner = readText(join(lockDirectory, 'pid'))
  if (!owner || isAlive(Number(owner))) return false
  const first = makeDirectory(join(lockDirectory, `after-${owner}`))
  return first && readText(join(lockDirectory, 'pid')) === owner
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function makeDirectory(path) {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return false
    throw new Error(`setup: cannot create ${path}: ${error.message}.\nThe folder must be writable.`, {
      cause: error,
    })
  }
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function say(text) {
  process.stderr.write(`setup: ${text}\n`)
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setup().catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
}
