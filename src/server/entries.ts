// /v1/pools/:pool/entries: look at entries, reschedule and cancel them. In mode `each` an entry is addressed by key and at; the key
// alone means all of them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkKey, checkMoment } from '../check.ts'
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { type Entry, type PlannedRun, stateOf } from '../pool/entry.ts'
import type { Pool } from '../pool/pool.ts'
import type { EntryQuery } from '../pool/store.ts'
import { JSON_TYPE, jsonOf } from './body.ts'
import { followEntry } from './entry-follower.ts'
import { STATES, readMoment, readState } from './entry-query.ts'
import { isObject, refuse } from './json.ts'
import { pagingOf, readLimit } from './listing.ts'
import { ENTRIES, ENTRY, ENTRY_CANCELLED, PUT_RESULT } from './pool-schemas.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'
import { RESCHEDULE } from './schemas.ts'
import { wantsStream } from './stream.ts'
import { type PageRules, readCursor, writePage } from './tick-json.ts'

const PAGING = pagingOf('entries')
const AT = 'the entry of this time; in mode `each` only'

const LIST: RouteDoc = {
  summary: 'Lists entries by due time, then key.',
  query: {
    key: 'only this key',
    prefix: 'keys that begin with this',
    group: 'of this group',
    'due.from': 'due at or after',
    'due.before': 'due before',
    state: STATES.join(', '),
    ...PAGING,
  },
  answer: { 'application/json': ENTRIES },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}
const GET: RouteDoc = {
  summary:
    'The entry of a key; in mode `each` its entries, or with `at` the one entry. With `Accept: text/event-stream` one entry ' +
    'is followed, with the progress of its run: an event `entry` when it has changed, `gone` at its end.',
  query: { at: AT, ...PAGING },
  answer: { 'application/json': { oneOf: [ENTRY, ENTRIES] }, 'text/event-stream': ENTRY },
  errors: ['invalid_input', 'pool_unknown', 'entry_unknown', ...READ_ERRORS],
}
const PATCH: RouteDoc = {
  summary:
    'Reschedules an entry in one step: it keeps its payload, lane and group. A dead entry is put again, as a new one.',
  query: { at: 'the entry of this time; required in mode `each`' },
  body: { 'application/json': RESCHEDULE },
  answer: { 'application/json': PUT_RESULT },
  errors: ['invalid_input', 'pool_unknown', 'entry_unknown', 'entry_due', 'entry_exists', ...WRITE_ERRORS],
}
const DELETE: RouteDoc = {
  summary:
    'Cancels the entries of a key, or with `at` the one entry. The signal of a run that is under way fires, and it settles nothing any more.',
  query: { at: AT },
  answer: { 'application/json': ENTRY_CANCELLED },
  errors: ['invalid_input', 'pool_unknown', 'entry_unknown', ...WRITE_ERRORS],
}

export function addEntries(app: FastifyInstance, context: ServerContext): void {
  const path = '/v1/pools/:pool/entries'
  app.get(path, { config: { doc: LIST } }, async (request, reply) => {
    const text = await list(context, request)
    reply.header('content-type', JSON_TYPE)
    return text
  })
  app.get(`${path}/:key`, { config: { doc: GET } }, (request, reply) => get(context, request, reply))
  app.patch(`${path}/:key`, { config: { doc: PATCH } }, (request) => reschedule(context, request))
  app.delete(`${path}/:key`, { config: { doc: DELETE } }, (request) => cancel(context, request))
}

async function list(context: ServerContext, request: FastifyRequest): Promise<string> {
  const names = ['key', 'prefix', 'group', 'due.from', 'due.before', 'state', 'limit', 'after'] as const
  const query = readQuery(request.query, names)
  const { key, prefix, group, state, 'due.from': from, 'due.before': before } = query
  const pool = await context.pools.of(request)
  const found = await find(context, pool, {
    ...paging(query),
    ...(key === undefined ? {} : { key: checkKey(key) }),
    ...(prefix === undefined ? {} : { prefix: checkKey(prefix, 'prefix') }),
    ...(group === undefined ? {} : { group: checkKey(group, 'group') }),
    ...(from === undefined ? {} : { dueFrom: readMoment(from, 'due.from') }),
    ...(before === undefined ? {} : { dueBefore: readMoment(before, 'due.before') }),
    ...(state === undefined ? {} : { state: readState(state) }),
  })
  return writePage(found.entries, found)
}

async function get(
  context: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | FastifyReply> {
  const query = readQuery(request.query, ['at', 'limit', 'after'])
  const pool = await context.pools.of(request)
  const key = keyOf(request)
  const at = slotOf(pool, query.at)
  if (at === undefined && pool.settings.mode === 'each') {
    const found = await find(context, pool, { ...paging(query), key })
    if (found.entries.length === 0 && query.after === undefined) throw entryUnknown(key)
    reply.header('content-type', JSON_TYPE)
    return writePage(found.entries, found)
  }
  const read = (): Promise<string | null> => readOne(context, pool, { key, slot: at ?? null })
  const text = await read()
  if (text === null) throw entryUnknown(key, at)
  if (wantsStream(request)) return followEntry(context, read, reply)
  reply.header('content-type', JSON_TYPE)
  return text
}

/** An entry, and what its run has told of itself; null: there is none. */
async function readOne(
  { race }: ServerContext,
  { name: pool }: Pool,
  name: { key: string; slot: number | null },
): Promise<string | null> {
  const { browse, progress } = race.store.pool
  const [entry, told] = await Promise.all([browse.get(pool, name), progress.read(pool, name)])
  if (entry === null) return null
  const text = writeEntry(entry, race.clock.now())
  if (told === null) return text
  return `${text.slice(0, -1)},"progress":${told.progress},"progressAt":"${toIso(told.toldAt)}"}`
}

async function reschedule(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  const query = readQuery(request.query, ['at'])
  const body = jsonOf(request)
  const pool = await context.pools.of(request)
  const key = keyOf(request)
  const from = slotOf(pool, query.at)
  if (from === undefined && pool.settings.mode === 'each') {
    throw refuse('the parameter at is missing: a key may have many entries', 'name the entry by ?at=')
  }
  if (!isObject(body) || Object.keys(body).some((name) => name !== 'at')) {
    throw refuse('the body must be {"at": "…"} and nothing else', 'send the new time as "at"')
  }
  const to = checkMoment(body['at'])
  const outcome = await pool.reschedule(key, from ?? null, to)
  if (outcome.kind === 'absent') throw entryUnknown(key, from)
  if (outcome.kind === 'due') throw entryDue(key)
  if (outcome.kind === 'exists') throw entryExists(key, to)
  const { dueAt, tally, result } = outcome.answer
  const at = pool.settings.mode === 'each' ? toIso(to) : null
  return { key, at, dueAt: toIso(dueAt.getTime()), tally, result }
}

async function cancel(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  const query = readQuery(request.query, ['at'])
  const pool = await context.pools.of(request)
  const key = keyOf(request)
  const at = slotOf(pool, query.at)
  const { cancelled, due } = await pool.cancelAll(key, at)
  if (cancelled + due === 0) throw entryUnknown(key, at)
  return { key, cancelled, due }
}

interface Found extends PageRules {
  entries: Entry[]
}

/** One entry more than a page holds, which tells whether there is a next page. */
async function find({ race }: ServerContext, pool: Pool, query: EntryQuery): Promise<Found> {
  const { limit } = query
  const found = await race.store.pool.browse.list(pool.name, { ...query, limit: limit + 1 })
  return { ...found, limit, write: writeEntry }
}

function paging({ limit, after }: { limit?: string; after?: string }): EntryQuery {
  return { limit: readLimit(limit), ...(after === undefined ? {} : { after: readCursor(after) }) }
}

function keyOf(request: FastifyRequest): string {
  return checkKey((request.params as { key: string }).key)
}

function slotOf({ settings }: Pool, at: string | undefined): number | undefined {
  if (at === undefined) return undefined
  if (settings.mode === 'each') return readMoment(at)
  throw refuse('the parameter at names nothing here: a key has one entry', 'leave it out')
}

function entryUnknown(key: string, at?: number): HeadraceError {
  const which = at === undefined ? 'no entry' : `no entry at ${toIso(at)}`
  return new HeadraceError('entry_unknown', `the key ${JSON.stringify(key)} has ${which}`, {
    remedy:
      'it may be done, and an entry that is done is gone; list what there is with GET /v1/pools/NAME/entries',
  })
}

function entryDue(key: string): HeadraceError {
  const what = `the entry of ${JSON.stringify(key)} is due already, or one at the new time has fired`
  return new HeadraceError('entry_due', what, {
    remedy: 'nothing was changed: a run that is due is not postponed; put the key again, or cancel it',
  })
}

function entryExists(key: string, at: number): HeadraceError {
  const what = `the key ${JSON.stringify(key)} has an entry at ${toIso(at)} already`
  return new HeadraceError('entry_exists', what, {
    remedy: 'nothing was changed: choose another time, or cancel one of the two entries',
  })
}

/** Payloads are kept as JSON text, and are embedded as they are. */
function writeEntry(entry: Entry, now: number): string {
  const { key, slot, next, after, partition, lane, group, attempt, failing, lastError } = entry
  const name = `"key":${JSON.stringify(key)},"at":${slot === null ? 'null' : `"${toIso(slot)}"`}`
  const run = `${writeRun(next)},"after":${after === null ? 'null' : `{${writeRun(after)}}`}`
  const place = `"partition":${partition},"lane":"${lane}","group":${JSON.stringify(group)}`
  const failed = `"attempt":${attempt},"failing":${failing},"lastError":${JSON.stringify(lastError)}`
  const times = `"enqueuedAt":"${toIso(entry.enqueuedAt)}","putAt":"${toIso(entry.putAt)}"`
  return `{${name},"state":"${stateOf(entry, now)}",${run},${place},${failed},${times}}`
}

function writeRun({ dueAt, tally, payload }: PlannedRun): string {
  const rest = payload === null ? '' : `,"payload":${payload}`
  return `"dueAt":"${toIso(dueAt)}","tally":${tally}${rest}`
}
