// A check or a trigger of the user's own refuses what a worker writes: all other work goes on.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { headrace } from '../../src/headrace.ts'
import { dead } from '../../src/pool/answer.ts'
import { startPostgres } from '../servers/postgres.ts'
import { sqliteFiles } from './open-sqlite.ts'
import { until } from './postgres-house.ts'

interface Place {
  store: string
  /** Has the store refuse deaths with the reason `taboo`. */
  forbid(): Promise<void>
  close(): Promise<void>
}

const server = await startPostgres(15, { fsync: false })
after(() => server?.remove())

const places: Record<string, { create(): Promise<Place>; skip: boolean }> = {
  sqlite: {
    skip: false,
    create: async () => {
      const path = await sqliteFiles.create()
      const forbid = async (): Promise<void> => {
        const file = new DatabaseSync(path, { timeout: 5000 })
        file.exec(`create trigger taboo before insert on death when new.reason = 'taboo'
          begin select raise(abort, 'taboo'); end`)
        file.close()
      }
      return { store: `sqlite:${path}`, forbid, close: () => sqliteFiles.remove(path) }
    },
  },
  postgres: {
    skip: server === null,
    create: async () => {
      const check = `alter table refused.death add constraint taboo check (reason <> 'taboo')`
      const store = server?.url({ schema: 'refused' }) ?? ''
      return { store, forbid: async () => void (await server?.run(check)), close: async () => undefined }
    },
  },
}

for (const [name, { create, skip }] of Object.entries(places)) {
  void describe(`work on ${name}`, { skip }, () => {
    test('[X19] a death that the store refuses is one with another reason, and all else is settled', async () => {
      const place = await create()
      const race = await headrace({ store: place.store, partitions: 4 })
      const pool = race.pool('work')
      await pool.open()
      await place.forbid()
      race.work(pool, ({ key }) => dead(key === 'k50' ? 'taboo' : 'as \0 usual'), { concurrency: 100 })
      await pool.putAll(Array.from({ length: 100 }, (_, n) => ({ key: `k${n}` })))
      try {
        await race.start()
        await until('all are dead', async () => (await pool.count()).dead === 100)
        const deaths = await pool.dead.list()
        const odd = deaths.filter(({ reason }) => reason !== 'as \uFFFD usual')
        assert.deepEqual(
          odd.map(({ key, reason }) => [key, reason]),
          [['k50', 'unsettled']],
        )
        assert.match(odd[0]?.error ?? '', /dead: .*taboo/)
      } finally {
        await race.stop()
        await place.close()
      }
    })
  })
}
