// JSON Schemas of what /v1/roster, /v1/locks and /v1/doctor take and give.
import type { Schema } from './route.ts'
import { COUNT, TEXT, TIME, listOf, objectOf, orNull } from './schemas.ts'

const FLAG: Schema = { type: 'boolean' }
const NAME: Schema = orNull(TEXT)

const LEADER = objectOf({
  member: TEXT,
  name: TEXT,
  term: COUNT,
  expiresAt: TIME,
  leaseMs: orNull(COUNT),
})

const MEMBER = objectOf({
  id: TEXT,
  name: TEXT,
  address: NAME,
  version: TEXT,
  weight: COUNT,
  leads: FLAG,
  leaseMs: orNull(COUNT),
  joinedAt: TIME,
  heartbeatAgeMs: COUNT,
  silent: FLAG,
  draining: FLAG,
  health: { type: 'object', additionalProperties: TEXT, description: 'the state of each loop' },
  serves: listOf(TEXT),
  partitions: { ...COUNT, description: 'allotted to it' },
})

const RESOURCE = objectOf({
  name: TEXT,
  partitions: COUNT,
  owners: listOf(objectOf({ member: TEXT, name: TEXT, partitions: COUNT, since: TIME })),
  unowned: { ...COUNT, description: 'whose owner is no member' },
  moves: { ...COUNT, description: 'how often partitions have changed hands' },
  moving: { ...COUNT, description: 'about to be handed over' },
  since: orNull(TIME),
})

export const ROSTER = objectOf({
  now: TIME,
  leaseMs: COUNT,
  leader: orNull(LEADER),
  members: listOf(MEMBER),
  resources: listOf(RESOURCE),
  overlap: { ...COUNT, description: 'partitions that two members believe to own: 0' },
})

export const ALLOTMENTS = objectOf({
  items: listOf(
    objectOf({
      resource: TEXT,
      partition: COUNT,
      owner: TEXT,
      ownerName: NAME,
      epoch: COUNT,
      next: NAME,
      nextName: NAME,
      since: TIME,
      moves: COUNT,
    }),
  ),
})

export const DRAINING = objectOf({
  id: TEXT,
  name: TEXT,
  draining: FLAG,
  partitions: { ...COUNT, description: 'that it has' },
  moves: { ...COUNT, description: 'of these, that go to others; the rest stays until someone can serve it' },
})

const MOVE = objectOf({
  resource: TEXT,
  partition: COUNT,
  from: NAME,
  fromName: NAME,
  to: TEXT,
  toName: NAME,
})

export const REBALANCE = objectOf({
  'preview?': { ...FLAG, description: 'false unless said' },
  'without?': { ...listOf(TEXT), description: 'members, in a preview only' },
})
export const REBALANCED = objectOf({ preview: FLAG, moves: listOf(MOVE), underWay: listOf(MOVE) })

export const STEPPED_DOWN = objectOf({
  steppedDown: { ...FLAG, description: 'false: nobody leads' },
  member: NAME,
  name: NAME,
  term: orNull(COUNT),
})

export const LOCKS = objectOf({
  items: listOf(objectOf({ name: TEXT, holder: TEXT, token: COUNT, expiresAt: TIME })),
})

export const DOCTOR = objectOf({
  now: { ...TIME, description: 'the clock of the store' },
  version: TEXT,
  store: TEXT,
  findings: listOf(objectOf({ check: TEXT, ok: FLAG, detail: TEXT, remedy: NAME })),
})
