// Puts and appends in users' own transactions, by clients of the server.
import { Client } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { type OwnTransaction, arrivalsContract } from '../../src/testing/arrivals-contract.ts'
import { openHouse } from './postgres-house.ts'

const { server, skip, newSchema, open } = await openHouse()

async function begin(): Promise<OwnTransaction> {
  const tx = new Client({ connectionString: server.url() })
  await tx.connect()
  await tx.query('begin')
  const end = async (how: 'commit' | 'rollback'): Promise<void> => {
    await tx.query(how)
    await tx.end()
  }
  return { tx, end }
}

arrivalsContract(
  'postgres',
  async () => ({
    store: await open(newSchema()),
    now: () => systemClock.now(),
    pass: (ms) => systemClock.sleep(ms),
    begin,
  }),
  { skip },
)
