// JSON Schemas of pools, entries and the dead.
import { DEATH_STATES } from '../pool/settle.ts'
import { COUNT, ITEM, MOMENT, RESULT, TEXT, TIME, listOf, objectOf, orNull } from './schemas.ts'

const ANY = {}
const MODE = { enum: ['one', 'each'] }
const LANE = { enum: ['fanout', 'normal', 'bulk'] }
const DURATION = { description: 'such as `30d`, or milliseconds', type: ['string', 'integer'] }

const PAYLOADS = { enum: ['latest', 'all'] }

export const POOL_MEMBERS = {
  name: TEXT,
  mode: MODE,
  partitions: COUNT,
  rememberMs: COUNT,
  deadForMs: COUNT,
  fansOut: { type: 'boolean' },
  throttleMs: COUNT,
  payloads: PAYLOADS,
}

export const PAUSED = objectOf({
  by: orNull(TEXT),
  reason: orNull(TEXT),
  since: TIME,
  until: { ...orNull(TIME), description: 'null: it ends with resume' },
})
export const NEW_PAUSE = objectOf({
  'by?': { ...TEXT, description: 'who pauses it' },
  'reason?': TEXT,
  'until?': { ...MOMENT, description: 'it ends by itself then: RFC 3339 with a zone, or milliseconds' },
})
export const RESUMED = objectOf({ resumed: { type: 'boolean', description: 'false: there was no pause' } })

const SPREAD = {
  type: 'boolean',
  description: 'starts are spaced by per/count; left out: they may come at once',
}
const LIMIT = objectOf({
  concurrency: orNull(COUNT),
  rate: orNull(objectOf({ count: COUNT, perMs: COUNT, 'spread?': SPREAD })),
})
export const LIMITS = objectOf({ group: LIMIT, pool: LIMIT })
const NEW_RATE = objectOf({
  count: { type: 'integer', minimum: 1 },
  per: { description: 'such as `1s`, or milliseconds; from 100 ms to 1 h', type: ['string', 'integer'] },
  'spread?': SPREAD,
})
const NEW_LIMIT = objectOf({
  'concurrency?': orNull({ type: 'integer', minimum: 1 }),
  'rate?': orNull(NEW_RATE),
})
export const NEW_LIMITS = objectOf({
  'group?': { ...orNull(NEW_LIMIT), description: 'for each group by itself' },
  'pool?': { ...orNull(NEW_LIMIT), description: 'for the pool as a whole' },
})

export const POOL = objectOf({ ...POOL_MEMBERS, paused: orNull(PAUSED), limits: LIMITS })
export const POOLS = objectOf({
  items: listOf(POOL),
  total: { ...COUNT, description: 'how many there are' },
})
export const NEW_POOL = objectOf({
  'mode?': MODE,
  'partitions?': COUNT,
  'remember?': DURATION,
  'deadFor?': DURATION,
  'fansOut?': { type: 'boolean', description: 'its entries go in the lane `fanout`; fixed' },
  'throttle?': { ...DURATION, description: 'the least time between runs of a key, in mode `one`' },
  'payloads?': { ...PAYLOADS, description: '`all`: runs see those of all their puts, in mode `one`; fixed' },
})

const PUT_MEMBERS = {
  'at?': { ...MOMENT, description: 'when it is due: RFC 3339 with a zone, or milliseconds; now unless said' },
  'in?': {
    ...DURATION,
    description: 'due so long after the put, by the clock of the store; not together with `at`',
  },
  'payload?': ANY,
  'lane?': LANE,
  'group?': ITEM,
  'onConflict?': { enum: ['earliest', 'replace', 'keep'] },
  'longestWait?': {
    ...DURATION,
    description: 'with `replace`: puts put the run off for no longer than this',
  },
}
export const PUT_BODY = objectOf(PUT_MEMBERS)
export const NEW_ENTRY = objectOf({ key: ITEM, ...PUT_MEMBERS })

const PUT_ANSWER = { key: ITEM, at: orNull(TIME), dueAt: TIME, tally: COUNT, result: RESULT }
export const PUT_RESULT = objectOf(PUT_ANSWER)
export const PUT_LINE = objectOf({
  line: COUNT,
  ...Object.fromEntries(Object.entries(PUT_ANSWER).map(([name, schema]) => [`${name}?`, schema])),
  'error?': objectOf({ code: TEXT, detail: TEXT, remedy: TEXT }),
})

export const ENTRY = objectOf({
  key: ITEM,
  at: orNull(TIME),
  dueAt: TIME,
  state: { enum: ['waiting', 'due', 'backing-off', 'dead'] },
  tally: COUNT,
  'payload?': ANY,
  after: orNull(objectOf({ dueAt: TIME, tally: COUNT, 'payload?': ANY })),
  partition: COUNT,
  lane: LANE,
  group: ITEM,
  attempt: {
    ...COUNT,
    description: 'how many attempts of its next run have failed; of a dead entry all that it had',
  },
  lastError: orNull({
    ...TEXT,
    description: 'what its last attempt failed with, until a run of it is done; null: nothing was thrown',
  }),
  failing: { type: 'boolean' },
  enqueuedAt: TIME,
  putAt: TIME,
  'progress?': {
    description: 'what its run told last, while it is under way; in the answer for one entry only',
  },
  'progressAt?': TIME,
})
export const ENTRIES = objectOf({ items: listOf(ENTRY), next: orNull(TEXT) })
export const ENTRY_CANCELLED = objectOf({ key: ITEM, cancelled: COUNT, due: COUNT })

const DEAD_RUN = objectOf({
  id: COUNT,
  key: ITEM,
  at: orNull(TIME),
  tally: COUNT,
  'payload?': ANY,
  'payloads?': { ...listOf(ANY), description: 'of every put, in a pool that keeps them all' },
  reason: TEXT,
  error: orNull(TEXT),
  kind: TEXT,
  group: TEXT,
  state: { enum: [...DEATH_STATES] },
  diedAt: TIME,
})
export const DEAD_RUNS = objectOf({ items: listOf(DEAD_RUN), next: orNull(TEXT) })
export const DEAD_KINDS = objectOf({
  items: listOf(
    objectOf({
      kind: TEXT,
      reason: TEXT,
      error: orNull(TEXT),
      count: COUNT,
      first: TIME,
      last: TIME,
      keys: listOf(ITEM),
    }),
  ),
  next: orNull(TEXT),
})
export const DEAD_FILTER = objectOf({
  'key?': ITEM,
  'at?': MOMENT,
  'reason?': TEXT,
  'error?': { ...TEXT, description: 'a part of the error, whatever its case' },
  'kind?': { ...TEXT, description: 'the same reason and error but for numbers and ids' },
  'group?': { ...TEXT, description: 'the group of the put' },
  'state?': { enum: [...DEATH_STATES] },
  'from?': MOMENT,
  'before?': MOMENT,
  'all?': { enum: [true], description: 'in the place of every other: all of them' },
  'after?': { ...TEXT, description: '`next` of the answer before' },
})
export const REDRIVEN = objectOf({ redriven: COUNT, next: orNull(TEXT) })
export const REMOVED = objectOf({ deaths: COUNT, entries: COUNT, next: orNull(TEXT) })
