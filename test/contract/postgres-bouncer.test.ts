// PostgreSQL behind PgBouncer in transaction mode keeps every contract: no call needs anything of a session. [Y5]
import { after, test } from 'node:test'
import { startBouncer } from '../servers/pgbouncer.ts'
import { startPostgres } from '../servers/postgres.ts'
import { postgresPlaces } from './open-postgres.ts'
import { contracts } from './postgres-contracts.ts'

const server = await startPostgres(15, { fsync: false })
const bouncer = server === null ? null : await startBouncer(server)
after(async () => {
  await bouncer?.remove()
  await server?.remove()
})

if (server === null || bouncer === null) {
  void test('[Y5] behind PgBouncer', { skip: 'it is not installed' })
} else {
  const places = postgresPlaces(server, (schema) => bouncer.url({ schema }))
  after(() => places.close())
  contracts('postgres behind pgbouncer', places)
}
