// /v1/ticks: look, reschedule, cancel. A tick is addressed by item and at; the item alone means all of them.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { checkKey, checkMoment } from '../check.ts'
import type { Entry } from '../pool/entry.ts'
import type { EntryQuery } from '../pool/store.ts'
import { JSON_TYPE, jsonOf } from './body.ts'
import { isObject, refuse } from './json.ts'
import { STATES, readMoment, readState } from './entry-query.ts'
import { pagingOf, readLimit } from './listing.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'
import { CANCELLED, RESCHEDULE, TICK, TICKS, TICK_RESULT } from './schemas.ts'
import { readCursor, writePage, writeTick } from './tick-json.ts'

const PAGING = pagingOf('ticks')

const LIST: RouteDoc = {
  summary: 'Lists ticks by due time, then item.',
  query: {
    item: 'only this item',
    'due.from': 'due at or after',
    'due.before': 'due before',
    state: STATES.join(', '),
    ...PAGING,
  },
  answer: { 'application/json': TICKS },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}
const GET: RouteDoc = {
  summary: 'The ticks of an item, or with `at` the one tick.',
  query: { at: 'the tick of this time', ...PAGING },
  answer: { 'application/json': { oneOf: [TICKS, TICK] } },
  errors: ['invalid_input', 'pool_unknown', 'tick_unknown', ...READ_ERRORS],
}
const PATCH: RouteDoc = {
  summary: 'Reschedules a tick in one step.',
  query: { at: 'the tick of this time; required in mode `each`' },
  body: { 'application/json': RESCHEDULE },
  answer: { 'application/json': TICK_RESULT },
  errors: ['invalid_input', 'pool_unknown', 'tick_unknown', 'tick_due', 'tick_exists', ...WRITE_ERRORS],
}
const DELETE: RouteDoc = {
  summary: 'Cancels the ticks of an item, or with `at` the one tick.',
  query: { at: 'the tick of this time' },
  answer: { 'application/json': CANCELLED },
  errors: ['invalid_input', 'pool_unknown', 'tick_unknown', ...WRITE_ERRORS],
}

export function addTicks(app: FastifyInstance, context: ServerContext): void {
  app.get('/v1/ticks', { config: { doc: LIST } }, async (request, reply) => {
    reply.header('content-type', JSON_TYPE)
    return list(context, request)
  })
  app.get('/v1/ticks/:item', { config: { doc: GET } }, async (request, reply) => {
    const text = await get(context, request)
    reply.header('content-type', JSON_TYPE)
    return text
  })
  app.patch('/v1/ticks/:item', { config: { doc: PATCH } }, (request) => reschedule(context, request))
  app.delete('/v1/ticks/:item', { config: { doc: DELETE } }, (request) => cancel(context, request))
}

async function list(context: ServerContext, request: FastifyRequest): Promise<string> {
  const names = ['item', 'due.from', 'due.before', 'state', 'limit', 'after'] as const
  const query = readQuery(request.query, names)
  const { item, state } = query
  const from = query['due.from']
  const before = query['due.before']
  const { now, entries, limit } = await find(context, {
    ...paging(query),
    ...(item === undefined ? {} : { key: checkKey(item, 'item') }),
    ...(from === undefined ? {} : { dueFrom: readMoment(from, 'due.from') }),
    ...(before === undefined ? {} : { dueBefore: readMoment(before, 'due.before') }),
    ...(state === undefined ? {} : { state: readState(state) }),
  })
  return writePage(entries, { now, limit })
}

async function get(context: ServerContext, request: FastifyRequest): Promise<string> {
  const item = itemOf(request)
  const query = readQuery(request.query, ['at', 'limit', 'after'])
  if (query.at !== undefined) {
    const entry = await findAt(context, item, readMoment(query.at))
    return writeTick(entry, context.race.clock.now())
  }
  const { now, entries, limit } = await find(context, { ...paging(query), key: item })
  if (entries.length === 0 && query.after === undefined) throw tickUnknown(item)
  return writePage(entries, { now, limit })
}

async function reschedule(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  const item = itemOf(request)
  const { at: from } = readQuery(request.query, ['at'])
  const body = jsonOf(request)
  const pool = await context.pools.ticks()
  if (from === undefined && pool.settings.mode === 'each') {
    throw refuse('the parameter at is missing: an item may have many ticks', 'name the tick by ?at=')
  }
  if (!isObject(body) || Object.keys(body).some((name) => name !== 'at')) {
    throw refuse('the body must be {"at": "…"} and nothing else', 'send the new time as "at"')
  }
  const at = checkMoment(body['at'])
  const slot = from === undefined ? null : readMoment(from)
  if (slot !== null) await refuseOtherTime(context, item, slot)
  const answer = await pool.reschedule(item, slot, at)
  if (answer.kind === 'absent') throw tickUnknown(item, slot)
  if (answer.kind === 'due') {
    const what = `the tick of ${JSON.stringify(item)} is due already, or one at the new time has fired`
    throw new HeadraceError('tick_due', what, { remedy: 'it fires as it was; post a new tick' })
  }
  if (answer.kind === 'exists') {
    const what = `the item ${JSON.stringify(item)} has a tick at ${toIso(at)} already`
    throw new HeadraceError('tick_exists', what, {
      remedy: 'nothing was changed: choose another time, or cancel one of the two ticks',
    })
  }
  return { item, at: toIso(at), result: answer.answer.result }
}

async function cancel(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  const item = itemOf(request)
  const query = readQuery(request.query, ['at'])
  const at = query.at === undefined ? undefined : readMoment(query.at)
  if (at !== undefined) await refuseOtherTime(context, item, at)
  const { cancelled, due } = await (await context.pools.ticks()).cancelAll(item, at)
  if (cancelled + due === 0) throw tickUnknown(item, at)
  return { item, cancelled, due }
}

/** One entry more than a page holds, which tells whether there is a next page. */
async function find(
  { race, pools }: ServerContext,
  query: EntryQuery,
): Promise<{ now: number; entries: Entry[]; limit: number }> {
  const pool = await pools.ticks()
  await pool.open()
  const { limit } = query
  const found = await race.store.pool.browse.list(pool.name, { ...query, limit: limit + 1 })
  return { ...found, limit }
}

/** The tick of an item at a time, or `tick_unknown`. */
async function findAt({ race, pools }: ServerContext, item: string, at: number): Promise<Entry> {
  const pool = await pools.ticks()
  await pool.open()
  const slot = pool.settings.mode === 'each' ? at : null
  const entry = await race.store.pool.browse.get(pool.name, { key: item, slot })
  if (entry === null || (entry.slot ?? entry.next.dueAt) !== at) throw tickUnknown(item, at)
  return entry
}

/**
 * In mode `one` the item names its tick, so a time in the request can only be right or wrong. A change between
 * this look and what follows is not seen, as if it had come a moment later.
 */
async function refuseOtherTime(context: ServerContext, item: string, at: number): Promise<void> {
  const { settings } = await context.pools.ticks()
  if (settings.mode === 'one') await findAt(context, item, at)
}

function itemOf(request: FastifyRequest): string {
  return checkKey((request.params as { item: string }).item, 'item')
}

function paging({ limit, after }: { limit?: string; after?: string }): EntryQuery {
  return {
    limit: readLimit(limit),
    ...(after === undefined ? {} : { after: readCursor(after) }),
  }
}

function tickUnknown(item: string, at?: number | null): HeadraceError {
  const which = at === undefined || at === null ? 'no tick' : `no tick at ${toIso(at)}`
  return new HeadraceError('tick_unknown', `the item ${JSON.stringify(item)} has ${which}`, {
    remedy: 'it may have fired: look at its topic; list ticks with GET /v1/ticks',
  })
}
