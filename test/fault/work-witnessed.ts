// node work-witnessed.ts JSON: works on pools of a store until somebody ends it. Each run tells a table of a PostgreSQL
// server, which is not the store's business, when it was called and when it ended, by that server's clock.
import { once } from 'node:events'
import { Pool } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { headrace } from '../../src/headrace.ts'
import type { WitnessedWork } from './race-limits.ts'
import { WitnessClock } from './witness-clock.ts'

/** Enough that a start is told at once, also when many start together. */
const CONNECTIONS = 6

process.once('disconnect', () => process.exit())
const { store, witness, table, member, leaseMs, pools } = JSON.parse(process.argv[2] ?? '{}') as WitnessedWork
// No run waits for the disk of the witness, whose server goes on.
const tell = new Pool({
  connectionString: witness,
  max: CONNECTIONS,
  options: '-c synchronous_commit=off',
})
const clock = await WitnessClock.open(witness)
const race = await headrace({ store, lease: leaseMs, partitions: 12 })
for (const { name, takesMs, ...options } of pools) {
  race.work(
    race.pool(name),
    async ({ key }, { signal }) => {
      const calledAt = clock.now()
      const values = [member, name, key.split('/')[0], calledAt, clock.precisionMs]
      const { rows } = await tell.query(
        `insert into ${table} (member, pool, grp, called, precision) values ($1, $2, $3, $4, $5) returning id`,
        values,
      )
      await systemClock.sleep(takesMs, signal)
      await tell.query(`update ${table} set ended = $2 where id = $1`, [rows[0].id, clock.now()])
      signal.throwIfAborted()
    },
    options,
  )
}
await race.start()
process.send?.('ready')
await once(process, 'SIGTERM')
await race.stop()
await clock.close()
await tell.end()
process.disconnect()
