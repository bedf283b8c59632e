// /v1/pools/:pool/dead: what was given up, to look at, to run again, and to remove.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkChoice, checkInstant, checkMoment } from '../check.ts'
import { toIso } from '../clock.ts'
import { nearest } from '../nearest.ts'
import type { DeadFilter, DeadText } from '../pool/dead.ts'
import type { DeathKind } from '../pool/death-kind.ts'
import { DEATH_STATES } from '../pool/settle.ts'
import type { DeathCursor } from '../pool/store.ts'
import { JSON_TYPE, jsonOf } from './body.ts'
import { readMoment } from './entry-query.ts'
import { isObject, parseJson, refuse } from './json.ts'
import { cursorUnknown, fitting, pagingOf, readLimit, writeCursor } from './listing.ts'
import { DEAD_FILTER, DEAD_KINDS, DEAD_RUNS, REDRIVEN, REMOVED } from './pool-schemas.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'

const TEXTS = ['key', 'reason', 'error', 'kind', 'group', 'state'] as const
const TIMES = ['at', 'from', 'before'] as const
const FILTERS = [...TEXTS, ...TIMES] as const

const FILTER_DOC = {
  key: 'only this key',
  at: 'only this time of the key, in mode `each`',
  reason: 'with this reason',
  error: 'with this part in the error, whatever its case',
  kind: 'of this kind: the same reason and error but for numbers and ids',
  group: 'of this group of puts',
  state: DEATH_STATES.join(', '),
  from: 'died at or after',
  before: 'died before',
}
const STEP =
  'Looks at no more than 10,000 records, the newest first: while `next` is not null, ask again with it as `after`.'

const LIST: RouteDoc = {
  summary: `What was given up, the newest first. ${STEP}`,
  query: { ...FILTER_DOC, ...pagingOf('records') },
  answer: { 'application/json': DEAD_RUNS },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}
const KINDS: RouteDoc = {
  summary: `What was given up, by reason and error but for numbers and ids, the largest kind first. ${STEP}`,
  query: { ...FILTER_DOC, after: '`next` of the answer before' },
  answer: { 'application/json': DEAD_KINDS },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}
const REDRIVE: RouteDoc = {
  summary: `Runs every entry again, now, that is dead by a death of the filter. ${STEP}`,
  body: { 'application/json': DEAD_FILTER },
  answer: { 'application/json': REDRIVEN },
  errors: ['invalid_input', 'pool_unknown', ...WRITE_ERRORS],
}
const REMOVE: RouteDoc = {
  summary: `Removes the records of the filter, and each dead entry with the last of its own. ${STEP}`,
  body: { 'application/json': DEAD_FILTER },
  answer: { 'application/json': REMOVED },
  errors: ['invalid_input', 'pool_unknown', ...WRITE_ERRORS],
}

export function addDead(app: FastifyInstance, context: ServerContext): void {
  const path = '/v1/pools/:pool/dead'
  app.get(path, { config: { doc: LIST } }, async (request, reply) => {
    const text = await list(context, request)
    reply.header('content-type', JSON_TYPE)
    return text
  })
  app.get(`${path}/kinds`, { config: { doc: KINDS } }, (request) => listKinds(context, request))
  app.post(`${path}/redrive`, { config: { doc: REDRIVE } }, async (request) => {
    const { filter, after } = readFilter(request)
    const { dead } = await context.pools.of(request)
    const { redriven, next } = await dead.redriveSome(filter, after)
    return { redriven, next: cursorText(next) }
  })
  app.post(`${path}/remove`, { config: { doc: REMOVE } }, async (request) => {
    const { filter, after } = readFilter(request)
    const { dead } = await context.pools.of(request)
    const { deaths, entries, next } = await dead.removeSome(filter, after)
    return { deaths, entries, next: cursorText(next) }
  })
}

async function list(context: ServerContext, request: FastifyRequest): Promise<string> {
  const query = readQuery(request.query, [...FILTERS, 'limit', 'after'])
  const { dead } = await context.pools.of(request)
  const limit = readLimit(query.limit)
  const { runs, next } = await dead.page({ ...filterOf(query), limit, after: afterOf(query) })
  const items = fitting(runs, { limit, write: writeRun })
  const last = items.length < runs.length ? (runs[items.length - 1] ?? null) : next
  return `{"items":[${items.join(',')}],"next":${JSON.stringify(cursorText(last))}}`
}

async function listKinds(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  const query = readQuery(request.query, [...FILTERS, 'after'])
  const { dead } = await context.pools.of(request)
  const { kinds, next } = await dead.kinds(filterOf(query), afterOf(query))
  return { items: kinds.map(kindView), next: cursorText(next) }
}

type Query = { [Name in (typeof FILTERS)[number]]?: string }

function filterOf(query: Query): DeadFilter {
  const times = TIMES.flatMap((name) => {
    const text = query[name]
    return text === undefined ? [] : [[name, readMoment(text, name)]]
  })
  const texts = TEXTS.flatMap((name) =>
    query[name] === undefined ? [] : [[name, fieldOf(name, query[name])]],
  )
  return Object.fromEntries([...texts, ...times]) as DeadFilter
}

function afterOf({ after }: { after?: string }): DeathCursor | undefined {
  return after === undefined ? undefined : readCursor(after)
}

/** What a body names. To name nothing is refused: whoever means all says so. */
function readFilter(request: FastifyRequest): { filter: DeadFilter; after: DeathCursor | undefined } {
  readQuery(request.query, [])
  const body = jsonOf(request)
  if (!isObject(body)) throw refuse('the body must be a JSON object', 'send {"kind": "…"}')
  const { all, after, ...named } = body
  const filter = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, fieldOf(name, value)]),
  )
  if (all !== undefined && all !== true) throw refuse('all is not true', 'send true, or leave it out')
  if ((all === true) === Object.keys(filter).length > 0) {
    throw refuse(
      all === true ? 'all stands beside a filter' : 'nothing says which of the dead',
      `name them by ${FILTERS.join(', ')}, or send {"all": true}`,
    )
  }
  if (after !== undefined && typeof after !== 'string') throw cursorUnknown()
  return { filter, after: afterOf(after === undefined ? {} : { after }) }
}

function fieldOf(name: string, value: unknown): unknown {
  if ((TIMES as readonly string[]).includes(name)) return checkMoment(value, name)
  if (!(TEXTS as readonly string[]).includes(name)) {
    const near = nearest(name.slice(0, 64), [...FILTERS, 'all', 'after'])
    throw refuse(
      `there is no field ${JSON.stringify(name.slice(0, 64))}`,
      near === null ? `the fields are ${FILTERS.join(', ')}, all, after` : `did you mean ${near}?`,
    )
  }
  if (name === 'state') return checkChoice(value, DEATH_STATES, { name, code: 'invalid_input' })
  if (typeof value === 'string' && value !== '') return value
  throw refuse(`${name} is no text`, `send "${name}" as a JSON string`)
}

function writeRun(dead: DeadText): string {
  const { id, key, slot, seen, payload, payloads, reason, error, kind, group, state, diedAt } = dead
  const head = { id, key, at: slot === null ? null : toIso(slot), tally: seen }
  const rest = { reason, error, kind, group, state, diedAt: toIso(diedAt) }
  const embedded = payload === null ? '' : `"payload":${payload},`
  const all = payloads.length === 0 ? '' : `"payloads":[${payloads.join(',')}],`
  return `${JSON.stringify(head).slice(0, -1)},${embedded}${all}${JSON.stringify(rest).slice(1)}`
}

function kindView({ id, reason, error, count, first, last, keys }: DeathKind): unknown {
  return { kind: id, reason, error, count, first: toIso(first), last: toIso(last), keys }
}

function cursorText(cursor: DeathCursor | null): string | null {
  return cursor === null ? null : writeCursor([cursor.diedAt, cursor.id])
}

function readCursor(text: string): DeathCursor {
  try {
    const [diedAt, id] = parseJson(Buffer.from(text, 'base64url').toString('utf8')) as unknown[]
    if (!Number.isSafeInteger(id)) throw cursorUnknown()
    return { diedAt: checkInstant(diedAt), id: id as number }
  } catch {
    throw cursorUnknown()
  }
}
