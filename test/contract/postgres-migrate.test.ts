// A migration that others keep waiting, and that keeps nobody waiting for long.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Client, Pool } from 'pg'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { Store } from '../../src/store.ts'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import { Queries, latestVersion } from '../../src/stores/postgres/queries.ts'
import { asMember, known } from '../../src/testing/roster-driver.ts'
import { openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, open, closeAfter } = await openHouse()

/** The newest migration is another one, which locks the members like all that add a column. */
class Newer extends Queries {
  override migrations(): string[] {
    const added = `alter table ${this.schema}.member add column newer integer`
    return [...super.migrations().slice(0, -1), added]
  }
}

interface Lagging {
  schema: string
  store: Store
  reader: Client
  up(clock: Clock): Promise<number>
}

/** A schema that lacks the newest migration, and somebody who reads its members in a transaction. */
async function lagging(): Promise<Lagging> {
  const schema = newSchema()
  const store = await open(schema)
  await store.roster.join(asMember('a'), [])
  await server.run(`delete from ${schema}.schema_version where version = ${latestVersion()}`)
  const reader = new Client({ connectionString: server.url() })
  await reader.connect()
  closeAfter({ close: () => reader.end() })
  await reader.query(`begin; select from ${schema}.member`)
  const pool = new Pool({ connectionString: server.url(), max: 1 })
  closeAfter({ close: () => pool.end() })
  return { schema, store, reader, up: (clock) => migrate(pool, new Newer(schema), 'here', clock) }
}

/** How many wait to change the members. */
async function waiting(schema: string): Promise<number> {
  const text = 'select from pg_locks where not granted and mode = $1 and relation = $2::regclass'
  return (await server.run(text, ['AccessExclusiveLock', `${schema}.member`])).length
}

async function versionOf(schema: string): Promise<unknown> {
  const [row] = await server.run(`select max(version) as version from ${schema}.schema_version`)
  return row?.['version']
}

void describe('postgres: migrations behind readers', { skip }, () => {
  void test('[Y14] beats go on while one waits for a reader, and it goes through when the reader ends', async () => {
    const { schema, store, reader, up } = await lagging()
    const migrating = up(systemClock)
    await until('it waits', async () => (await waiting(schema)) > 0)
    const took: number[] = []
    for (const began = performance.now(); performance.now() - began < 2000;) {
      const sent = performance.now()
      await known(store, 'a')
      took.push(performance.now() - sent)
    }
    // Behind one that waits without end none would be answered; how long a beat takes is this machine's business, too.
    assert.ok(Math.max(...took) < 2000, `a beat took ${Math.max(...took)} ms`)
    assert.equal(await versionOf(schema), latestVersion() - 1)
    await reader.query('commit')
    assert.equal(await migrating, latestVersion() - 1)
    assert.equal(await versionOf(schema), latestVersion())
  })

  void test('[Y14] one that waits for a reader in vain says what to do, and has changed nothing', async () => {
    const { schema, up } = await lagging()
    let leaptMs = 0
    const clock: Clock = {
      ...systemClock,
      mono: () => systemClock.mono() + leaptMs,
      async sleep(delayMs) {
        assert.ok(delayMs >= 300 && delayMs <= 600)
        leaptMs += 20_000
      },
    }
    await assert.rejects(up(clock), { code: 'store_busy', remedy: /end the transaction/ })
    assert.equal(await versionOf(schema), latestVersion() - 1)
  })
})
