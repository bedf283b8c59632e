// JSON Schema of /v1/status.
import { LIMITS, PAUSED, POOL_MEMBERS } from './pool-schemas.ts'
import { COUNT, TEXT, TOPIC_MEMBERS, listOf, objectOf, orNull } from './schemas.ts'

export const STATUS = objectOf({
  version: TEXT,
  member: TEXT,
  store: TEXT,
  uptimeMs: COUNT,
  services: listOf(objectOf({ name: TEXT, state: TEXT })),
  ticks: orNull(
    objectOf({ mode: TEXT, partitions: COUNT, counts: { type: 'object', additionalProperties: COUNT } }),
  ),
  pools: listOf(
    objectOf({
      ...POOL_MEMBERS,
      paused: orNull(PAUSED),
      limits: LIMITS,
      work: {
        ...orNull(objectOf({ running: COUNT, concurrency: COUNT })),
        description: 'of the worker of this process; null: it has none',
      },
    }),
  ),
  poolsTotal: COUNT,
  topics: listOf(objectOf(TOPIC_MEMBERS)),
  roster: objectOf({
    joined: { type: 'boolean' },
    id: TEXT,
    name: TEXT,
    leader: orNull(objectOf({ member: TEXT, name: orNull(TEXT), term: COUNT })),
    shares: listOf(objectOf({ resource: TEXT, partitions: COUNT, held: COUNT })),
  }),
})
