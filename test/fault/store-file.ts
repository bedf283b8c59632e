// Reads the SQLite file as a stranger would: read-only, by SQL of its own, without the product's code.
import { DatabaseSync } from 'node:sqlite'
import { type TopicEvent, nameOf } from './check-ticks.ts'
import type { StoreContents, StoreReader } from './store-reader.ts'

/** A reader of the file, for a witness. */
export function fileReader(file: string): StoreReader {
  return { read: async () => readStore(file), waiting: async () => readStore(file).waiting }
}

/** The topic `ticks` and what waits for it, on one snapshot. */
export function readStore(file: string): StoreContents {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    database.exec('begin')
    return {
      events: readEvents(database),
      waiting: new Set([...readTable(database), ...readJournal(database)]),
    }
  } finally {
    database.close()
  }
}

function readEvents(database: DatabaseSync): TopicEvent[] {
  const rows = database
    .prepare(
      `select partition, offset, event.id, value, time from event join topic on topic.id = event.topic
       where topic.name = 'ticks' order by partition, offset`,
    )
    .all()
  return rows as unknown as TopicEvent[]
}

function readTable(database: DatabaseSync): string[] {
  const rows = database.prepare(`select key, slot from entry where state = 'live'`).all()
  return rows.map(({ key, slot }) => nameOf({ item: key as string, at: slot as number }))
}

/** Segments without the entries whose bit is set: docs/spec/sqlite.md says how they are written. */
function readJournal(database: DatabaseSync): string[] {
  const rows = database
    .prepare('select entries, bits from segment left join gone on gone.segment = segment.first_turn')
    .all()
  return rows.flatMap(({ entries, bits }) => {
    const gone = (bits ?? new Uint8Array()) as Uint8Array
    return (JSON.parse(entries as string) as [string, number][])
      .filter((_, index) => (((gone[index >> 3] ?? 0) >> (index & 7)) & 1) === 0)
      .map(([item, at]) => nameOf({ item, at }))
  })
}
