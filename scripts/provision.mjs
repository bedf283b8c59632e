// npm run provision: installs the programs of the system that tests need and npm cannot bring.
// Plain JavaScript for Node 18 or newer. As root it uses apt-get; else it says what is missing.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** One line per program: the binary to look for, the apt package that has it, what it is for, where else it may be. */
const programs = [
  { binary: 'strace', package: 'strace', reason: 'shows the fsync before a 202' },
  {
    binary: 'postgres',
    package: 'postgresql-15',
    reason: 'a store under test',
    folder: '/usr/lib/postgresql/15/bin',
  },
  {
    binary: 'pgbouncer',
    package: 'pgbouncer',
    reason: 'stands before a store under test',
    folder: '/usr/sbin',
  },
  { binary: 'redis-server', package: 'redis-server', reason: 'holds the work of a peer in the bench' },
]

const missing = programs.filter((program) => !isHere(program))
if (missing.length === 0) process.exit(0)

const packages = [...new Set(missing.map((program) => program.package))]
for (const { binary, reason } of missing) say(`${binary} is missing (${reason})`)

if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
  say(`run npm run provision as root on Debian or Ubuntu, or install yourself: ${packages.join(' ')}`)
  process.exit(1)
}
apt(['update'])
apt(['install', '--yes', '--no-install-recommends', ...packages])

const still = missing.filter((program) => !isHere(program))
for (const program of still) say(`${program.package} is installed, yet ${program.binary} is not found`)
process.exit(still.length === 0 ? 0 : 1)

function isHere({ binary, folder }) {
  return isOnPath(binary) || (folder !== undefined && isExecutable(join(folder, binary)))
}

function isOnPath(binary) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, binary)))
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function apt(args) {
  say(`apt-get ${args.join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, error } = spawnSync('apt-get', ['-qq', ...args], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status === 0) return
  say(`apt-get ${args[0]} failed (${error?.message ?? status}): check the package sources and try again`)
  process.exit(1)
}

function say(text) {
  process.stderr.write(`provision: ${text}\n`)
}
