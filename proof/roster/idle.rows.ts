// What an idle member costs its PostgreSQL: the statements of its role, counted by the server itself.
import { spawn } from 'node:child_process'
import { once as onceEvent } from 'node:events'
import { join } from 'node:path'
import { until } from '../../test/fault/until.ts'
import { type PostgresServer, startPostgres } from '../../test/servers/postgres.ts'
import type { ProofContext, ProofRow } from '../row.ts'

const IDLE_MS = 10 * 60_000
const QUICK_IDLE_MS = 20_000
const POOLS = 20
const ROLE = 'member'
const PROGRAM = join(import.meta.dirname, 'idle-member.ts')
/** After its start a member becomes leader, is allotted partitions, and raises their fences. */
const SETTLED_WITHIN_MS = 60_000
const FIRST_LOOKS_MS = 3000

interface Idle {
  seconds: number
  calls: number
  /** The statements that were called most. */
  most: string
}

async function count(server: PostgresServer): Promise<Pick<Idle, 'calls' | 'most'>> {
  const rows = await server.run(
    `select s.calls::integer as calls, s.query from pg_stat_statements s join pg_roles r on r.oid = s.userid
     where r.rolname = $1 order by s.calls desc`,
    [ROLE],
  )
  const most = rows.slice(0, 6).map(({ calls, query }) => `${String(calls)} × ${firstWords(String(query))}`)
  return { calls: rows.reduce((sum, row) => sum + Number(row['calls']), 0), most: most.join('; ') }
}

function firstWords(query: string): string {
  return query
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 60)
}

/** Every partition of every pool is the member's, by its fence. */
async function isSettled(server: PostgresServer): Promise<boolean> {
  const [row] = await server.run(
    'select count(distinct resource)::integer as pools, count(*)::integer as fences from headrace.fence',
  )
  return row?.['pools'] === POOLS && row['fences'] === POOLS * 32
}

async function watch(server: PostgresServer, { quick, progress }: ProofContext): Promise<Idle> {
  await server.run('create extension pg_stat_statements')
  await server.run(`create role ${ROLE} login; grant create on database postgres to ${ROLE}`)
  const address = new URL(server.url())
  address.username = ROLE
  const child = spawn(process.execPath, [PROGRAM, address.href, String(POOLS)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = onceEvent(child, 'exit')
  try {
    await Promise.race([onceEvent(child, 'message'), ended])
    if (child.exitCode !== null) throw new Error(`the member ended with ${child.exitCode}`)
    await until('every partition is taken up', () => isSettled(server), SETTLED_WITHIN_MS)
    // Each pool looks once at what it was given; that is its start, too.
    const settledAt = performance.now()
    await until(
      'its first looks are over',
      () => performance.now() - settledAt >= FIRST_LOOKS_MS,
      SETTLED_WITHIN_MS,
    )
    await server.run('select pg_stat_statements_reset()')
    const [began, length] = [performance.now(), quick ? QUICK_IDLE_MS : IDLE_MS]
    progress(`idle for ${length / 1000} s`)
    await until('the time is over', () => performance.now() - began >= length, 2 * length)
    return { ...(await count(server)), seconds: (performance.now() - began) / 1000 }
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

export const rows: ProofRow[] = [
  {
    name: `an idle member with ${POOLS} pools: statements on PostgreSQL`,
    bar: '≤ 2.5/s',
    async run(context) {
      const server = await startPostgres(15, { preload: 'pg_stat_statements' })
      if (server === null)
        return { value: 'not run', holds: false, detail: 'PostgreSQL 15 is missing: npm run provision' }
      try {
        const { calls, seconds, most } = await watch(server, context)
        const rate = calls / seconds
        const value = `${rate.toFixed(2)}/s over ${Math.round(seconds)} s`
        return { value, holds: calls > 0 && rate <= 2.5, detail: `${calls} calls of its role: ${most}` }
      } finally {
        await server.remove()
      }
    },
  },
]
