// Reads a PostgreSQL store as a stranger would: by SQL of its own, without the product's code.
import { Client } from 'pg'
import { type TopicEvent, nameOf } from './check-ticks.ts'
import type { StoreContents, StoreReader } from './store-reader.ts'

interface EventRow extends Omit<TopicEvent, 'offset' | 'time'> {
  offset: string
  time: string
}

/** One reader for the schema `headrace` at this address. */
export function postgresReader(address: string): StoreReader {
  return {
    async read(): Promise<StoreContents> {
      return asking(address, async (client) => {
        await client.query('begin isolation level repeatable read read only')
        return { events: await readEvents(client), waiting: await readWaiting(client) }
      })
    },
    waiting: () => asking(address, readWaiting),
  }
}

async function asking<Answer>(address: string, ask: (client: Client) => Promise<Answer>): Promise<Answer> {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    return await ask(client)
  } finally {
    await client.end()
  }
}

async function readEvents(client: Client): Promise<TopicEvent[]> {
  const { rows } = await client.query<EventRow>(
    `select e.partition, e.event_offset as offset, e.id, e.value, e.time
     from headrace.event e join headrace.topic t on t.id = e.topic
     where t.name = 'ticks' order by e.partition, e.event_offset`,
  )
  return rows.map((row) => ({ ...row, offset: Number(row.offset), time: Number(row.time) }))
}

async function readWaiting(client: Client): Promise<Set<string>> {
  const { rows } = await client.query<{ key: string; slot: string }>(
    `select e.key, e.slot from headrace.entry e join headrace.pool p on p.id = e.pool
     where p.name = 'ticks' and e.state = 'live'`,
  )
  return new Set(rows.map(({ key, slot }) => nameOf({ item: key, at: Number(slot) })))
}
