// `{ tx }` with the transactions of the libraries that people have, real ones on a real server: commit and rollback.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { PrismaPg } from '@prisma/adapter-pg'
import { type GetPrismaClientConfig, getPrismaClient } from '@prisma/client/runtime/client'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import knex from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import postgres from 'postgres'
import { headrace } from '../../src/headrace.ts'
import type { AnyTransaction, PrismaTransaction } from '../../src/tx.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15)
const url = server?.url() ?? ''
const closing: (() => Promise<unknown>)[] = []

/** What a test does in a transaction; it throws to roll back. */
type Work = (tx: AnyTransaction) => Promise<void>

interface Library {
  name: string
  transaction(work: Work): Promise<unknown>
  /** The same library outside of a transaction. */
  outside: AnyTransaction
}

interface PrismaClient extends PrismaTransaction {
  $transaction(work: (tx: PrismaTransaction) => Promise<void>): Promise<unknown>
  $disconnect(): Promise<void>
}

/** Without types of its own, as is WebAssembly here. */
const COMPILER = '@prisma/client/runtime/query_compiler_fast_bg.postgresql'
const { compile } = Reflect.get(globalThis, 'WebAssembly') as { compile(bytes: Buffer): Promise<unknown> }

/** What `prisma generate` writes for a schema without models; it needs its command line tool, this does not. */
function openPrisma(): PrismaClient {
  const config: GetPrismaClientConfig = {
    previewFeatures: [],
    clientVersion: '7.10.0',
    engineVersion: '',
    activeProvider: 'postgresql',
    inlineSchema:
      'generator client {\n  provider = "prisma-client"\n}\ndatasource db {\n  provider = "postgresql"\n}\n',
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: 'AAAA' },
    compilerWasm: {
      getRuntime: async () => import(`${COMPILER}.mjs`) as Promise<never>,
      getQueryCompilerWasmModule: async () => {
        const { wasm } = (await import(`${COMPILER}.wasm-base64.mjs`)) as { wasm: string }
        return compile(Buffer.from(wasm, 'base64'))
      },
      importName: './query_compiler_fast_bg.js',
    },
  }
  const Client = getPrismaClient(config) as unknown as new (given: object) => PrismaClient
  return new Client({ adapter: new PrismaPg({ connectionString: url }) })
}

function libraries(): Library[] {
  const pool = new Pool({ connectionString: url })
  const sql = postgres(url, { onnotice: () => undefined })
  const overPg = drizzlePg(pool)
  const overSql = drizzlePostgresJs(sql)
  const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
  const query = knex({ client: 'pg', connection: url })
  const prisma = openPrisma()
  closing.push(
    () => pool.end(),
    () => sql.end(),
    () => query.destroy(),
    () => prisma.$disconnect(),
  )
  return [
    { name: 'pg', transaction: (work) => inClient(pool, work), outside: pool },
    { name: 'postgres.js', transaction: (work) => sql.begin(work), outside: sql },
    { name: 'Drizzle over pg', transaction: (work) => overPg.transaction(work), outside: overPg },
    { name: 'Drizzle over postgres.js', transaction: (work) => overSql.transaction(work), outside: overSql },
    { name: 'Kysely', transaction: (work) => kysely.transaction().execute(work), outside: kysely },
    { name: 'Knex', transaction: (work) => query.transaction(work), outside: query },
    { name: 'Prisma', transaction: (work) => prisma.$transaction(work), outside: prisma },
  ]
}

async function inClient(pool: Pool, work: Work): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

void describe('transactions of libraries', { skip: server === null }, () => {
  after(async () => {
    for (const close of closing) await close()
    await server?.remove()
  })

  for (const { name, transaction, outside } of server === null ? [] : libraries()) {
    test(`[U1] [U4] ${name}: a put and an append count with the commit, and a rollback leaves nothing`, async () => {
      assert.ok(server !== null)
      const schema = `lib_${name.replaceAll(/\W/g, '_').toLowerCase()}`
      await using race = await headrace({ store: server.url({ schema }) })
      const pool = race.pool('work', { partitions: 2 })
      const log = race.topic('log', { partitions: 1 })
      race.work(pool, () => undefined)
      await race.start()
      const put = (key: string) => async (tx: AnyTransaction) => {
        const payload = { text: `${key}: it's "quoted" \\ ? $1 ☂` }
        await pool.put(key, { tx, in: '1h', payload, lane: 'bulk', group: 'g' })
        await pool.putAll(
          [
            { key: `${key}-2`, in: '2h' },
            { key: `${key}-3`, in: '3h' },
          ],
          { tx },
        )
        await log.append([{ key, value: payload }], { tx })
        if (key === 'undone') throw new Error('undo it')
      }
      await assert.rejects(transaction(put('undone')), /undo it/)
      await transaction(put('kept'))
      await assert.rejects(pool.put('outside', { tx: outside }), { code: 'invalid_options' })
      const deadline = performance.now() + 10_000
      const isThere = async (): Promise<boolean> =>
        (await pool.list()).entries.length >= 3 && (await log.read(0)).events.length > 0
      while (performance.now() < deadline && !(await isThere())) await race.clock.sleep(20)
      const { entries } = await pool.list()
      const { events } = await log.read(0)
      assert.deepEqual(
        [...entries, ...events].map(({ key }) => key),
        ['kept', 'kept-2', 'kept-3', 'kept'],
      )
      assert.deepEqual(entries[0]?.payload, { text: 'kept: it\'s "quoted" \\ ? $1 ☂' })
      assert.equal(entries[0]?.lane, 'bulk')
    })
  }
})
