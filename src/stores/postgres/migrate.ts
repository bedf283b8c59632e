// Brings the schema up to date: forward only, in one transaction, under a lock that several migrators wait for. Tables that
// somebody reads are waited for in short pieces, since those who come later wait behind the one that waits.
import type { Pool, PoolClient } from 'pg'
import type { Clock } from '../../clock.ts'
import { HeadraceError } from '../../errors.ts'
import { codeOf } from './failure.ts'
import { type Queries, latestVersion } from './queries.ts'

/** Two that create the same schema or table at once: one of them fails with one of these, and looks again. */
const RACES = ['23505', '42P06', '42P07', 'XX000', '40P01']
const MOST_TRIES = 20
/** How long a look may take. What is brought up takes as long as the tables are large. */
const LOOK_MS = 5000
/** A table was in use for longer than a migration waits for it. */
const IN_USE = '55P03'
/** How long it lets the others work before it waits for the table again: this, up to twice as long. */
const PAUSE_MS = 300
/** How long it tries to get the tables. */
const PATIENCE_MS = 60_000

interface Migrating {
  client: PoolClient
  queries: Queries
  address: string
  clock: Clock
}

/** Answers the version that was found; 0: there was nothing. */
export async function migrate(pool: Pool, queries: Queries, address: string, clock: Clock): Promise<number> {
  const client = await pool.connect()
  const migrating = { client, queries, address, clock }
  try {
    for (let attempt = 1; attempt < MOST_TRIES; attempt += 1) {
      const found = await migrateOnce(migrating).catch(unlessRaced)
      if (found !== null) return release(client, found)
    }
    return release(client, await migrateOnce(migrating))
  } catch (error) {
    // Its answer may come any time.
    client.release(true)
    throw error
  }
}

function release(client: PoolClient, found: number): number {
  client.release()
  return found
}

async function migrateOnce(migrating: Migrating): Promise<number> {
  const { client, queries, address } = migrating
  const found = await look(client, queries, address)
  if (found === null) await client.query(queries.text('create_schema'))
  if ((found ?? 0) < latestVersion()) await bringUpPatiently(migrating)
  return found ?? 0
}

function unlessRaced(error: unknown): null {
  if (RACES.includes(codeOf(error) ?? '')) return null
  throw error
}

/** The version of the schema, which must be ours or empty; null: there is none. Writes nothing. */
async function look(client: PoolClient, queries: Queries, address: string): Promise<number | null> {
  const looking = { text: queries.text('find_schema'), values: [queries.schema], query_timeout: LOOK_MS }
  const { rows } = await client.query<{ ours: boolean; tables: number }>(looking)
  const [found] = rows
  if (found === undefined) return null
  if (!found.ours && found.tables === 0) return 0
  if (!found.ours) {
    throw new HeadraceError(
      'store_failed',
      `the schema ${queries.schema} of ${address} is another application’s`,
      {
        remedy: 'name another one: postgres://…?schema=NAME',
      },
    )
  }
  return refuseNewer(await version(client, queries), queries, address)
}

async function bringUpPatiently(migrating: Migrating): Promise<void> {
  const { queries, address, clock } = migrating
  const began = clock.mono()
  for (;;) {
    try {
      return await bringUp(migrating)
    } catch (error) {
      if (codeOf(error) !== IN_USE) throw error
      // Not the same for all: several would come one after the other, and let nobody through between.
      const pauseMs = PAUSE_MS * (1 + clock.random())
      if (clock.mono() - began + pauseMs >= PATIENCE_MS) throw inUse(queries, address, error)
      await clock.sleep(pauseMs)
    }
  }
}

function inUse({ schema }: Queries, address: string, cause: unknown): HeadraceError {
  const message = `a table of the schema ${schema} of ${address} was in use for ${PATIENCE_MS / 1000} s, and could not be changed`
  return new HeadraceError('store_busy', message, {
    cause,
    remedy:
      'end the transaction that keeps the tables open (a dump, or a session of pg_stat_activity with an old ' +
      'xact_start), and start again; nothing was changed',
  })
}

async function bringUp({ client, queries, address }: Migrating): Promise<void> {
  await client.query(queries.text('begin'))
  try {
    for (const name of ['create_version', 'lock_version']) await client.query(queries.text(name))
    // Another process may have migrated while this one waited for the lock.
    const found = refuseNewer(await version(client, queries), queries, address)
    await client.query(queries.text('wait_briefly'))
    for (const [index, text] of queries.migrations().entries()) {
      if (index < found) continue
      await client.query(text)
      await client.query({ text: queries.text('save_version'), values: [index + 1] })
    }
    await client.query('COMMIT')
  } catch (error) {
    // A connection that is gone has rolled back by itself, and must not hide why.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function version(client: PoolClient, queries: Queries): Promise<number> {
  const reading = { text: queries.text('read_version'), query_timeout: LOOK_MS }
  const { rows } = await client.query<{ version: number }>(reading)
  return rows[0]?.version ?? 0
}

function refuseNewer(found: number, queries: Queries, address: string): number {
  if (found <= latestVersion()) return found
  throw new HeadraceError(
    'store_newer',
    `the schema ${queries.schema} of ${address} has version ${found}, this Headrace knows versions up to ${latestVersion()}`,
    { remedy: 'upgrade this Headrace, or open another store' },
  )
}
