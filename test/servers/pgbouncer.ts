// PgBouncer in transaction mode before a PostgreSQL, on a free port of loopback.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, account, freePort } from './postgres.ts'
import { listens, runs } from './program.ts'

export interface Bouncer {
  url(parameters?: Record<string, string>): string
  remove(): Promise<void>
}

const PROGRAM = ['/usr/sbin/pgbouncer', 'pgbouncer']

/**
 * Null: there is none, which is said in one line. With `sockets`, a folder where the server has its own, it is reached and
 * reaches the server by sockets of the system.
 */
export async function startBouncer(
  server: PostgresServer,
  { sockets = '' }: { sockets?: string } = {},
): Promise<Bouncer | null> {
  const program = PROGRAM.find(runs)
  if (program === undefined) {
    process.stderr.write('PgBouncer IS NOT HERE: its tests are skipped. npm run provision installs it.\n')
    return null
  }
  const folder = mkdtempSync(join(tmpdir(), 'headrace-bouncer-'))
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid)
  const port = await freePort()
  writeFileSync(join(folder, 'pgbouncer.ini'), settingsOf({ server: server.port, port, sockets }))
  const child = spawn(program, ['-q', join(folder, 'pgbouncer.ini')], {
    ...account,
    cwd: folder,
    stdio: 'ignore',
  })
  await listens(port)
  return {
    url(parameters = {}) {
      const url = new URL(server.url(parameters))
      url.port = String(port)
      if (sockets !== '') url.searchParams.set('host', sockets)
      return url.href
    },
    async remove() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Settings {
  server: number
  port: number
  sockets: string
}

function settingsOf({ server, port, sockets }: Settings): string {
  return `[databases]
* = host=${sockets === '' ? '127.0.0.1' : sockets} port=${server} user=headrace
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir = ${sockets}
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 10
`
}
