// The PostgreSQL that both sides of a race put into, the same in every run: commits wait for the disk.
import { type PostgresServer, startPostgres } from '../../test/servers/postgres.ts'

/** The oldest version that is supported: what is fast there is fast later. */
const VERSION = 15

export async function startServer(): Promise<PostgresServer> {
  const server = await startPostgres(VERSION, {
    fsync: true,
    // Room for the tables of a race, and no checkpoint in the middle of a turn.
    settings: { shared_buffers: '512MB', max_wal_size: '8GB', checkpoint_timeout: '30min' },
  })
  if (server === null) throw new Error(`PostgreSQL ${VERSION} is not here: npm run provision`)
  return server
}
