// JSON Schemas of what the API takes and gives. They describe; the checks of input are in tick-input.ts and
// route.ts.
import type { Schema } from './route.ts'

export const TEXT: Schema = { type: 'string' }
export const COUNT: Schema = { type: 'integer', minimum: 0 }
export const TIME: Schema = { type: 'string', format: 'date-time' }
const ANY: Schema = {}

export function listOf(items: Schema): Schema {
  return { type: 'array', items }
}

/** An object whose members are all there, but for those whose name ends with a question mark. */
export function objectOf(members: Record<string, Schema>): Schema {
  const entries = Object.entries(members)
  return {
    type: 'object',
    required: entries.map(([name]) => name).filter((name) => !name.endsWith('?')),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace('?', ''), schema])),
  }
}

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] }
}

export const ITEM: Schema = { type: 'string', minLength: 1, maxLength: 512 }
export const MOMENT: Schema = {
  description: 'RFC 3339 with a zone, or milliseconds since 1970',
  oneOf: [TIME, { type: 'integer' }],
}
export const RESULT: Schema = { enum: ['created', 'merged', 'replaced', 'kept'] }

export const NEW_TICK = objectOf({
  item: ITEM,
  at: MOMENT,
  'payload?': ANY,
  'onConflict?': { enum: ['earliest', 'replace', 'keep', 'reject'], description: 'only in ticks mode `one`' },
})

export const TICK_RESULT = objectOf({ item: ITEM, at: TIME, result: RESULT })

export const TICK_LINE = objectOf({
  line: COUNT,
  'item?': ITEM,
  'at?': TIME,
  'result?': RESULT,
  'error?': objectOf({ code: TEXT, detail: TEXT, remedy: TEXT }),
})

export const TICK = objectOf({
  item: ITEM,
  at: TIME,
  dueAt: TIME,
  state: { enum: ['waiting', 'due', 'backing-off', 'dead'] },
  'payload?': ANY,
  tally: COUNT,
  partition: COUNT,
  putAt: TIME,
})

export const TICKS = objectOf({ items: listOf(TICK), next: orNull(TEXT) })
export const RESCHEDULE = objectOf({ at: MOMENT })
export const CANCELLED = objectOf({ item: ITEM, cancelled: COUNT, due: COUNT })

export const TOPIC_MEMBERS = { name: TEXT, partitions: COUNT, retentionMs: COUNT, events: COUNT }
const BOUNDS = objectOf({ partition: COUNT, oldest: COUNT, head: COUNT })
export const TOPIC = objectOf({ ...TOPIC_MEMBERS, bounds: listOf(BOUNDS) })
export const TOPICS = objectOf({ items: listOf(objectOf(TOPIC_MEMBERS)) })

const EVENT_MEMBERS = {
  offset: COUNT,
  id: TEXT,
  key: TEXT,
  value: ANY,
  headers: orNull({ type: 'object' }),
  time: TIME,
}
export const EVENTS = objectOf({ events: listOf(objectOf(EVENT_MEMBERS)), next: COUNT })
export const FOLLOWED_EVENT = objectOf({ partition: COUNT, ...EVENT_MEMBERS })

const FILTER: Schema = { type: 'string', description: 'such as 32%1,5,9;type:vm' }
const DIVISION: Schema = { enum: ['id', 'hash'] }
const SECONDS: Schema = { type: 'number', minimum: 0 }

export const NEW_COLLECTOR = objectOf({
  'name?': { type: 'string', description: 'for people' },
  'weight?': { type: 'integer', description: '1 to 100; 1 unless said' },
  'partitions?': { type: 'integer', description: 'of the first collector; 32 unless said' },
  'by?': DIVISION,
})
const RELEASE: Schema = {
  ...TEXT,
  description:
    'residues that others shall have, each with the epoch under which the collector has it: `12@7,13@9`',
}
export const SHARE_ANSWER = objectOf({
  id: TEXT,
  filter: orNull(FILTER),
  release: orNull(RELEASE),
  by: DIVISION,
  partitions: COUNT,
  epoch: COUNT,
  expiresAt: TIME,
  leaseMs: COUNT,
})
export const HEARTBEAT = objectOf({ 'release?': RELEASE })
export const PASS = objectOf({ took: SECONDS, had: SECONDS })

const LOAD_MEMBERS = {
  id: TEXT,
  passes: COUNT,
  took: SECONDS,
  had: SECONDS,
  load: orNull({ type: 'number' }),
  signal: { enum: ['over', 'under', 'right', 'unknown'] },
}
export const COLLECTOR_LOAD = objectOf(LOAD_MEMBERS)
export const COLLECTOR_LEFT = objectOf({ id: TEXT, handedOver: COUNT })
export const SHARE_REMOVED = objectOf({ share: TEXT, partitions: COUNT })
export const SHARES = objectOf({
  items: listOf(
    objectOf({
      share: TEXT,
      by: DIVISION,
      partitions: COUNT,
      collectors: COUNT,
      expiresAt: orNull({ ...TIME, description: 'null while it has collectors' }),
    }),
  ),
})
export const SHARE = objectOf({
  share: TEXT,
  by: DIVISION,
  partitions: COUNT,
  epoch: COUNT,
  unserved: COUNT,
  recommended: orNull(COUNT),
  reasons: listOf(TEXT),
  collectors: listOf(
    objectOf({
      ...LOAD_MEMBERS,
      name: TEXT,
      weight: COUNT,
      filter: orNull(FILTER),
      revoked: orNull(FILTER),
      draining: { type: 'boolean' },
      joinedAt: TIME,
      expiresAt: TIME,
    }),
  ),
})

export const HEALTH = objectOf({ status: TEXT })
export const READINESS = objectOf({
  status: TEXT,
  'checks?': listOf(objectOf({ name: TEXT, ok: { type: 'boolean' }, detail: TEXT })),
})

export const METRICS = objectOf({
  metrics: listOf(objectOf({ name: TEXT, help: TEXT, kind: TEXT, series: listOf({ type: 'object' }) })),
})

export const PROBLEM = objectOf({
  type: TEXT,
  title: TEXT,
  status: COUNT,
  detail: TEXT,
  code: TEXT,
  remedy: TEXT,
  retryable: { type: 'boolean' },
  'instance?': TEXT,
  'errors?': listOf(objectOf({ path: TEXT, message: TEXT })),
})
