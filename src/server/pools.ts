// /v1/pools: what there is, and new ones. Nothing here counts entries: that would read them all.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type PoolOptions, poolSettings } from '../pool-options.ts'
import { nearest } from '../nearest.ts'
import { type Limits, pauseAt } from '../pool/control.ts'
import type { StoredPool } from '../pool/store.ts'
import { bytesOr } from './body.ts'
import { isObject, readJson, refuse } from './json.ts'
import type { KnownPools } from './known-pools.ts'
import { NEW_POOL, POOL, POOLS } from './pool-schemas.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'
import { pauseJson } from './control.ts'

/** The most pools that are listed: the control state of each costs a read. */
export const MOST_LISTED = 1000
/** Of how many that is read at once. */
const AT_ONCE = 10

const LIST: RouteDoc = {
  summary:
    'Every pool of the store by name, whichever process works on it, with its pause and its limits; of more than ' +
    `${MOST_LISTED} the first ${MOST_LISTED}, and \`total\` says how many there are.`,
  answer: { 'application/json': POOLS },
  errors: ['invalid_input', ...READ_ERRORS],
}
const GET: RouteDoc = {
  summary: 'One pool, with its pause, if it is paused now, and its limits.',
  answer: { 'application/json': POOL },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}
const PUT: RouteDoc = {
  summary:
    'Makes a pool, or finds it as it was asked for. Mode, partitions, fansOut and payloads are fixed by then; what is left ' +
    'out is as it is stored, and of a new pool `one` and the number that the server was started with.',
  body: { 'application/json': NEW_POOL },
  optionalBody: true,
  answer: { 'application/json': POOL },
  errors: ['invalid_input', 'invalid_options', 'pool_mismatch', ...WRITE_ERRORS],
}

export function addPools(app: FastifyInstance, context: ServerContext): void {
  app.get('/v1/pools', { config: { doc: LIST } }, async (request) => {
    readQuery(request.query, [])
    return poolDetails(context)
  })
  app.get('/v1/pools/:pool', { config: { doc: GET } }, (request) => {
    readQuery(request.query, [])
    return detail(context, request)
  })
  app.put('/v1/pools/:pool', { config: { doc: PUT } }, (request) => make(context, request))
}

async function make(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const { race, pools } = context
  const { pool: name } = request.params as { pool: string }
  const known = await pools.find(name)
  const settings = poolSettings(name, readOptions(request), known ?? race.options)
  await race.store.pool.entries.open(settings)
  return detail(context, request)
}

async function detail({ pools }: ServerContext, request: FastifyRequest): Promise<PoolDetail> {
  return detailOf(pools, await pools.stored(request))
}

/** A pool as answers show it. */
export interface PoolDetail extends StoredPool {
  paused: unknown
  limits: Limits
}

/** The pools by name with their control state, as many as are listed, and how many there are. */
export async function poolDetails({ pools }: ServerContext): Promise<{ items: PoolDetail[]; total: number }> {
  const all = await pools.list()
  const listed = all.slice(0, MOST_LISTED)
  const items: PoolDetail[] = []
  for (let from = 0; from < listed.length; from += AT_ONCE) {
    const some = listed.slice(from, from + AT_ONCE)
    items.push(...(await Promise.all(some.map((stored) => detailOf(pools, stored)))))
  }
  return { items, total: all.length }
}

async function detailOf(pools: KnownPools, stored: StoredPool): Promise<PoolDetail> {
  const { now, control } = await pools.controlOf(stored)
  return { ...stored, paused: pauseJson(pauseAt(control, now)), limits: control.limits }
}

/** The fields, and of which types they may be; the values are checked where those of the library are. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  mode: ['string'],
  partitions: ['number'],
  remember: ['string', 'number'],
  deadFor: ['string', 'number'],
  fansOut: ['boolean'],
  throttle: ['string', 'number'],
  payloads: ['string'],
}

function readOptions(request: FastifyRequest): PoolOptions {
  const body = readJson(bytesOr(request, '{}'))
  if (!isObject(body))
    throw refuse('the body must be a JSON object', 'send {"mode": "one", "partitions": 32}')
  for (const [name, value] of Object.entries(body)) checkField(name, value)
  return body
}

function checkField(name: string, value: unknown): void {
  const names = Object.keys(FIELDS)
  const types = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
  if (types === undefined) {
    const near = nearest(name.slice(0, 64), names)
    throw refuse(
      `a pool has no field ${JSON.stringify(name.slice(0, 64))}`,
      near === null ? `its fields are ${names.join(', ')}` : `did you mean ${near}?`,
    )
  }
  if (!types.includes(typeof value))
    throw refuse(`${name} is no ${types.join(' or ')}`, 'correct it, or leave it out')
}
