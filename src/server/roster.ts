// /v1/roster: who is there, who leads, who owns what; drain, rebalance, step down. And /v1/locks.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import { timingOf } from '../roster/settings.ts'
import type { Member, RosterView } from '../roster/store.ts'
import {
  type RosterSummary,
  allotmentsOf,
  movesUnderWay,
  plannedMoves,
  summaryOf,
} from '../roster/summary.ts'
import { jsonOf } from './body.ts'
import { isObject, refuse } from './json.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'
import { ALLOTMENTS, DRAINING, LOCKS, REBALANCE, REBALANCED, ROSTER, STEPPED_DOWN } from './roster-schemas.ts'

const GET: RouteDoc = {
  summary: 'Members, leader, who owns how much of what, and the overlap, which must be 0.',
  answer: { 'application/json': ROSTER },
  errors: ['invalid_input', ...READ_ERRORS],
}
const LIST: RouteDoc = {
  summary: 'Every allotment: partition, owner, epoch, next owner, since when, and how often it moved.',
  query: { resource: 'only this resource, such as `pool/ticks`' },
  answer: { 'application/json': ALLOTMENTS },
  errors: ['invalid_input', ...READ_ERRORS],
}
const DRAIN: RouteDoc = {
  summary: 'Tells a member, by id or by its name if that is unique, to hand over what it has.',
  answer: { 'application/json': DRAINING },
  errors: ['invalid_input', 'member_unknown', ...WRITE_ERRORS],
}
const UNDRAIN: RouteDoc = { ...DRAIN, summary: 'Takes the mark off: the member gets its share again.' }
const BALANCE: RouteDoc = {
  summary:
    'The moves that bring everyone to its share. With `preview` nothing is done, and `without` shows what draining ' +
    'these members would move; else a leader that is asked looks now, as it does by itself after every change.',
  body: { 'application/json': REBALANCE },
  answer: { 'application/json': REBALANCED },
  errors: ['invalid_input', 'member_unknown', ...READ_ERRORS],
}
const STEP_DOWN: RouteDoc = {
  summary: 'Ends the term of the leader, whichever member it is; the next beat of any member begins another.',
  answer: { 'application/json': STEPPED_DOWN },
  errors: ['invalid_input', ...WRITE_ERRORS],
}
const LIST_LOCKS: RouteDoc = {
  summary: 'Named locks that are held.',
  answer: { 'application/json': LOCKS },
  errors: ['invalid_input', ...READ_ERRORS],
}

export function addRoster(app: FastifyInstance, { race }: ServerContext): void {
  const member = '/v1/roster/members/:member/drain'
  app.get('/v1/roster', { config: { doc: GET } }, (request) => {
    readQuery(request.query, [])
    return readRoster(race)
  })
  app.get('/v1/roster/allotments', { config: { doc: LIST } }, (request) => list(race, request))
  app.post(member, { config: { doc: DRAIN } }, (request) => drain(race, request, true))
  app.delete(member, { config: { doc: UNDRAIN } }, (request) => drain(race, request, false))
  app.post('/v1/roster/rebalance', { config: { doc: BALANCE } }, (request) => rebalance(race, request))
  app.post('/v1/roster/step-down', { config: { doc: STEP_DOWN } }, (request) => stepDown(race, request))
  app.get('/v1/locks', { config: { doc: LIST_LOCKS } }, (request) => listLocks(race, request))
}

/** The roster as it stands in the store. */
export async function readRoster({ store, options }: Headrace): Promise<RosterSummary> {
  const view = await store.roster.view()
  // After the view: see overlapsOf.
  const fences = await Promise.all(
    view.resources.map(async ({ name }) => [name, await store.fences.fences(name)] as const),
  )
  return summaryOf(view, new Map(fences), timingOf(options.lease))
}

async function list({ store }: Headrace, request: FastifyRequest): Promise<unknown> {
  const { resource } = readQuery(request.query, ['resource'])
  return { items: allotmentsOf(await store.roster.view(), resource) }
}

async function drain(
  { store, options }: Headrace,
  request: FastifyRequest,
  draining: boolean,
): Promise<unknown> {
  readQuery(request.query, [])
  const asked = (request.params as { member: string }).member
  const view = await store.roster.view()
  const { id, name } = findMember(view, asked)
  if (!(await store.roster.drain(id, draining))) throw memberUnknown(asked, [])
  const partitions = view.allotments.filter(({ owner }) => owner === id).length
  const planned = draining ? plannedMoves(view, timingOf(options.lease), [id]) : []
  const moves = [...planned, ...movesUnderWay(view)].filter(({ from }) => from === id).length
  return { id, name, draining, partitions, moves }
}

async function rebalance(race: Headrace, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const { preview, without } = readRebalance(request)
  const view = await race.store.roster.view()
  const ids = without.map((asked) => findMember(view, asked).id)
  const moves = plannedMoves(view, timingOf(race.options.lease), ids)
  if (!preview) race.roster.look()
  return { preview, moves, underWay: movesUnderWay(view) }
}

function readRebalance(request: FastifyRequest): { preview: boolean; without: string[] } {
  const body: unknown = request.body === undefined || request.body === null ? {} : jsonOf(request)
  const names = isObject(body) ? Object.keys(body) : ['']
  if (!isObject(body) || names.some((name) => name !== 'preview' && name !== 'without')) {
    throw refuse('the body may hold "preview" and "without"', 'send {"preview": true}')
  }
  const { preview = false, without = [] } = body
  if (typeof preview !== 'boolean') throw refuse('preview is neither true nor false', 'send true or false')
  if (!Array.isArray(without) || without.some((member) => typeof member !== 'string')) {
    throw refuse('without is no list of members', 'send a list of ids or names')
  }
  if (!preview && without.length > 0) {
    throw refuse(
      'without is for a preview',
      'add "preview": true, or drain with POST /v1/roster/members/:member/drain',
    )
  }
  return { preview, without: without as string[] }
}

async function stepDown({ store }: Headrace, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const { leader, members, now } = await store.roster.view()
  const leads = leader !== null && leader.expiresAt > now
  if (!leads || !(await store.roster.stepDown(leader.member))) {
    return { steppedDown: false, member: null, name: null, term: null }
  }
  const name = members.find(({ id }) => id === leader.member)?.name ?? null
  return { steppedDown: true, member: leader.member, name, term: leader.term }
}

async function listLocks({ store }: Headrace, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const held = await store.locks.held()
  return {
    items: held.map(({ name, holder, token, expiresAt }) => {
      return { name, holder, token, expiresAt: toIso(expiresAt) }
    }),
  }
}

/** A member by its id, or by its name if no other has it; else `member_unknown`. */
function findMember({ members }: RosterView, asked: string): Member {
  const named = members.filter(({ name }) => name === asked)
  const found = members.find(({ id }) => id === asked) ?? (named.length === 1 ? named[0] : undefined)
  if (found === undefined) throw memberUnknown(asked, named)
  return found
}

function memberUnknown(asked: string, named: readonly Member[]): HeadraceError {
  const who = JSON.stringify(asked.slice(0, 256))
  if (named.length > 1) {
    return new HeadraceError('member_unknown', `${named.length} members are called ${who}`, {
      remedy: `name one by its id: ${named.map(({ id }) => id).join(', ')}`,
    })
  }
  return new HeadraceError('member_unknown', `no member has the id or name ${who}`, {
    remedy: 'see who is there: headrace roster, or GET /v1/roster',
  })
}
