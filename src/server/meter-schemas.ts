// JSON Schemas of what /v1/meter, /v1/verdict, /v1/why and /v1/stream give.
import { COLLISIONS, type Collision, POOL_COLLISIONS } from '../meter/collisions.ts'
import { STEPS, WINDOWS } from '../meter/lane-meter.ts'
import { VERDICTS } from '../meter/verdict.ts'
import { LANES } from '../pool/entry.ts'
import { REASONS } from '../pool/why.ts'
import type { Schema } from './route.ts'
import { COUNT, TEXT, TIME, listOf, objectOf, orNull } from './schemas.ts'

const NUMBER: Schema = { type: 'number' }
const FLAG: Schema = { type: 'boolean' }

const QUANTILES = objectOf({
  count: COUNT,
  meanMs: NUMBER,
  p50Ms: NUMBER,
  p90Ms: NUMBER,
  p99Ms: NUMBER,
  maxMs: NUMBER,
})

const BUCKET = objectOf({
  at: { ...TIME, description: 'when it began' },
  taken: COUNT,
  started: COUNT,
  finished: { ...COUNT, description: 'done, again or dead' },
  again: COUNT,
  retried: COUNT,
  dead: COUNT,
  cancelled: COUNT,
  letGo: COUNT,
  coalescing: orNull({ ...NUMBER, description: 'puts for each finished run' }),
  collisions: {
    ...objectOf({ lost: COUNT, refused: COUNT, perSecond: NUMBER }),
    description: 'settles and marks that wrote nothing',
  },
  steps: objectOf(Object.fromEntries(STEPS.map((step) => [step, orNull(QUANTILES)]))),
})

const OVERDUE = objectOf({
  count: orNull(COUNT),
  atLeast: { ...FLAG, description: 'there may be more' },
  oldestMs: orNull(NUMBER),
  unknown: orNull({ ...TEXT, description: 'why something is not known' }),
})

/** The buckets in which something collided. */
function collisionsOf(kinds: readonly Collision[]): Schema {
  const counts = Object.fromEntries(kinds.map((kind) => [kind, COUNT]))
  return listOf(objectOf({ at: TIME, ...counts, perSecond: NUMBER }))
}

const PAUSED = objectOf({ by: orNull(TEXT), reason: orNull(TEXT), since: TIME, until: orNull(TIME) })

export const METER = objectOf({
  now: TIME,
  member: TEXT,
  window: { enum: WINDOWS },
  seconds: COUNT,
  pools: listOf(
    objectOf({
      pool: TEXT,
      running: COUNT,
      concurrency: COUNT,
      inFlight: COUNT,
      overdue: OVERDUE,
      paused: orNull(PAUSED),
      collisions: collisionsOf(POOL_COLLISIONS),
      lanes: listOf(objectOf({ lane: { enum: LANES }, overdue: OVERDUE, buckets: listOf(BUCKET) })),
    }),
  ),
  store: objectOf({ calls: COUNT, p50Ms: orNull(NUMBER), p99Ms: orNull(NUMBER), maxMs: orNull(NUMBER) }),
  collisions: { ...collisionsOf(COLLISIONS), description: 'of all that this member does' },
})

export const VERDICT = objectOf({
  status: { enum: VERDICTS },
  sentence: TEXT,
  findings: listOf(objectOf({ check: TEXT, status: { enum: VERDICTS }, detail: TEXT, remedy: orNull(TEXT) })),
  not: { ...listOf(TEXT), description: 'what is well, and therefore not the cause' },
})

export const STREAMED = {
  description: 'once a second an event `meter` and an event `verdict`',
  oneOf: [METER, VERDICT],
}

export const WHY = objectOf({
  pool: orNull({ ...TEXT, description: 'null: none was named, and none has the key' }),
  key: TEXT,
  now: { ...TIME, description: 'the clock of the store' },
  state: { enum: ['waiting', 'due', 'backing-off', 'dead', 'running', 'absent'] },
  reason: orNull({ enum: REASONS }),
  sentence: TEXT,
  evidence: { type: 'object', description: 'what the reason goes by; times are text' },
  next: orNull({ ...TEXT, description: 'what can be done about it' }),
  also: listOf({ enum: REASONS }),
  dueAt: orNull(TIME),
  partition: orNull(COUNT),
  owner: orNull(objectOf({ name: TEXT, address: orNull(TEXT) })),
  alsoIn: { ...listOf(TEXT), description: 'where no pool was named: the others that have the key' },
})
