// /v1/ticks: look, reschedule, cancel. A tick is addressed by item and at; the item alone means all of them.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { checkKey, checkMoment } from '../check.ts'
import type { EntryState } from '../pool/entry.ts'
import type { EntryView } from '../pool/pool.ts'
import type { EntryCursor, EntryQuery } from '../pool/store.ts'
import type { Ticks } from '../pool/ticks.ts'
import { jsonOf } from './body.ts'
import { isObject, parseJson, refuse } from './json.ts'
import { type RouteDoc, type ServerContext, readNumber, readQuery } from './route.ts'
import { CANCELLED, RESCHEDULE, TICK, TICKS, TICK_RESULT } from './schemas.ts'

const STATES: readonly EntryState[] = ['waiting', 'due', 'backing-off', 'dead']
const PAGE = 100
const LARGEST_PAGE = 1000

const PAGING = { limit: `ticks in one page, 1 to ${LARGEST_PAGE}`, after: '`next` of the page before' }

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
  errors: ['invalid_input'],
}
const GET: RouteDoc = {
  summary: 'The ticks of an item, or with `at` the one tick.',
  query: { at: 'the tick of this time', ...PAGING },
  answer: { 'application/json': { oneOf: [TICKS, TICK] } },
  errors: ['invalid_input', 'tick_unknown'],
}
const PATCH: RouteDoc = {
  summary: 'Reschedules a tick in one step.',
  query: { at: 'the tick of this time; required in mode `each`' },
  body: { 'application/json': RESCHEDULE },
  answer: { 'application/json': TICK_RESULT },
  errors: ['invalid_input', 'tick_unknown', 'tick_due'],
}
const DELETE: RouteDoc = {
  summary: 'Cancels the ticks of an item, or with `at` the one tick.',
  query: { at: 'the tick of this time' },
  answer: { 'application/json': CANCELLED },
  errors: ['invalid_input', 'tick_unknown'],
}

export function addTicks(app: FastifyInstance, { ticks }: ServerContext): void {
  app.get('/v1/ticks', { config: { doc: LIST } }, (request) => list(ticks, request))
  app.get('/v1/ticks/:item', { config: { doc: GET } }, (request) => get(ticks, request))
  app.patch('/v1/ticks/:item', { config: { doc: PATCH } }, (request) => reschedule(ticks, request))
  app.delete('/v1/ticks/:item', { config: { doc: DELETE } }, (request) => cancel(ticks, request))
}

async function list(ticks: Ticks, request: FastifyRequest): Promise<unknown> {
  const names = ['item', 'due.from', 'due.before', 'state', 'limit', 'after'] as const
  const query = readQuery(request.query, names)
  const { item, state } = query
  const from = query['due.from']
  const before = query['due.before']
  return page(ticks, {
    ...paging(query),
    ...(item === undefined ? {} : { key: checkKey(item, 'item') }),
    ...(from === undefined ? {} : { dueFrom: checkMoment(momentOf(from), 'due.from') }),
    ...(before === undefined ? {} : { dueBefore: checkMoment(momentOf(before), 'due.before') }),
    ...(state === undefined ? {} : { state: checkState(state) }),
  })
}

async function get(ticks: Ticks, request: FastifyRequest): Promise<unknown> {
  const item = itemOf(request)
  const query = readQuery(request.query, ['at', 'limit', 'after'])
  if (query.at !== undefined) {
    const entry = await ticks.pool.get(item, checkMoment(momentOf(query.at)))
    if (entry === null) throw tickUnknown(item, query.at)
    return view(entry)
  }
  const found = await page(ticks, { ...paging(query), key: item })
  if (found.items.length === 0 && query.after === undefined) throw tickUnknown(item)
  return found
}

async function reschedule(ticks: Ticks, request: FastifyRequest): Promise<unknown> {
  const item = itemOf(request)
  const { at: from } = readQuery(request.query, ['at'])
  const body = jsonOf(request)
  const { mode } = ticks.pool.settings
  if (from === undefined && mode === 'each') {
    throw refuse('the parameter at is missing: an item may have many ticks', 'name the tick by ?at=')
  }
  if (!isObject(body) || Object.keys(body).some((name) => name !== 'at')) {
    throw refuse('the body must be {"at": "…"} and nothing else', 'send the new time as "at"')
  }
  const at = checkMoment(body['at'])
  const slot = from === undefined || mode === 'one' ? null : checkMoment(momentOf(from))
  const answer = await ticks.pool.reschedule(item, slot, at)
  if (answer.kind === 'absent') throw tickUnknown(item, from)
  if (answer.kind === 'due') {
    const what = `the tick of ${JSON.stringify(item)} is due already, or one at the new time has fired`
    throw new HeadraceError('tick_due', what, { remedy: 'it fires as it was; post a new tick' })
  }
  return { item, at: toIso(at), result: answer.answer.result }
}

async function cancel(ticks: Ticks, request: FastifyRequest): Promise<unknown> {
  const item = itemOf(request)
  const { at } = readQuery(request.query, ['at'])
  const moment = at === undefined ? undefined : checkMoment(momentOf(at))
  const { cancelled, due } = await ticks.pool.cancelAll(item, moment)
  if (cancelled + due === 0) throw tickUnknown(item, at)
  return { item, cancelled, due }
}

function itemOf(request: FastifyRequest): string {
  return checkKey((request.params as { item: string }).item, 'item')
}

/** A query holds text only; digits stand for milliseconds. */
function momentOf(text: string): string | number {
  return /^-?\d+$/.test(text) ? Number(text) : text
}

function checkState(state: string): EntryState {
  const found = STATES.find((known) => known === state)
  if (found !== undefined) return found
  throw refuse(`state is ${JSON.stringify(state.slice(0, 64))}`, `choose ${STATES.join(', ')}`)
}

function paging({ limit, after }: { limit?: string; after?: string }): EntryQuery {
  return {
    limit: limit === undefined ? PAGE : readNumber(limit, 'limit', { min: 1, max: LARGEST_PAGE }),
    ...(after === undefined ? {} : { after: readCursor(after) }),
  }
}

async function page(ticks: Ticks, query: EntryQuery): Promise<{ items: unknown[]; next: string | null }> {
  const { entries, next } = await ticks.pool.list(query)
  return { items: entries.map(view), next: next === null || next === undefined ? null : writeCursor(next) }
}

function view(entry: EntryView): unknown {
  const { key, at, dueAt, state, payload, tally, partition, putAt } = entry
  return { item: key, at: at ?? dueAt, dueAt, state, payload, tally, partition, putAt }
}

function writeCursor({ dueAt, key, slot }: EntryCursor): string {
  return Buffer.from(JSON.stringify([dueAt, key, slot])).toString('base64url')
}

function readCursor(text: string): EntryCursor {
  try {
    const [dueAt, key, slot] = parseJson(Buffer.from(text, 'base64url').toString('utf8')) as unknown[]
    const cursor = {
      dueAt: checkMoment(dueAt),
      key: checkKey(key),
      slot: slot === null ? null : checkMoment(slot),
    }
    return cursor
  } catch {
    throw refuse('after is not a cursor', 'give `next` of the page before, unchanged')
  }
}

function tickUnknown(item: string, at?: string): HeadraceError {
  const which = at === undefined ? 'no tick' : `no tick at ${at.slice(0, 64)}`
  return new HeadraceError('tick_unknown', `the item ${JSON.stringify(item)} has ${which}`, {
    remedy: 'it may have fired: look at its topic; list ticks with GET /v1/ticks',
  })
}
