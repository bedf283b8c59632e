// A Redis for benches and tests: on a free port of loopback, with its log in a temporary folder, as one that keeps what it
// has answered would be run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './postgres.ts'
import { listens, runs } from './program.ts'

export interface RedisServer {
  port: number
  /** What it was started with. */
  settings: string
  remove(): Promise<void>
}

const PROGRAM = ['/usr/bin/redis-server', 'redis-server']
const SETTINGS = { appendonly: 'yes', appendfsync: 'everysec', save: '', 'maxmemory-policy': 'noeviction' }

/** Null: there is none, which is said in one line. */
export async function startRedis(): Promise<RedisServer | null> {
  const program = PROGRAM.find(runs)
  if (program === undefined) {
    process.stderr.write('Redis IS NOT HERE: what needs it is skipped. npm run provision installs it.\n')
    return null
  }
  const folder = mkdtempSync(join(tmpdir(), 'headrace-redis-'))
  const port = await freePort()
  const given = { port: String(port), bind: '127.0.0.1', dir: folder, ...SETTINGS }
  const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(program, flags, { cwd: folder, stdio: 'ignore' })
  const atExit = (): void => void child.kill('SIGKILL')
  process.once('exit', atExit)
  await listens(port)
  return {
    port,
    settings: 'append-only log, synced every second',
    async remove() {
      process.off('exit', atExit)
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
