// /v1/why: why a key does not run yet. Finds its pool where none is named, and asks the owner of its partition where that
// is another process.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkKey } from '../check.ts'
import { toIso } from '../clock.ts'
import type { Evidence, OwnerEvidence } from '../pool/evidence.ts'
import { type WhyAnswer, type WhyAsked, answerWhy, gatherEvidence } from '../why.ts'
import { MEMBER_HEADER, type OwnerAnswer, askOwner } from './ask-owner.ts'
import { readMoment } from './entry-query.ts'
import { type FoundKey, MOST_POOLS, findKey } from './find-key.ts'
import { isHop } from './hop.ts'
import { refuse } from './json.ts'
import { WHY } from './meter-schemas.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, readQuery } from './route.ts'

const GET: RouteDoc = {
  summary:
    'Why a key does not run yet: one reason of a closed list, with evidence and what to do. What is due is answered by the ' +
    'owner of its partition, if that one is served and answers within a second; else by the server that is asked, which ' +
    'says `unknown` where only the owner knows, and in `evidence.askedOwner` why that one gave no answer.',
  forServers: true,
  query: {
    key: 'the key',
    pool: `its pool; unless said it is looked for in all, at most in ${MOST_POOLS}`,
    at: 'in a pool of mode `each`: the moment that was asked for; the one due first unless said',
  },
  answer: { 'application/json': WHY },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}

export function addWhy(app: FastifyInstance, context: ServerContext): void {
  app.get('/v1/why', { config: { doc: GET } }, (request, reply) => answer(context, request, reply))
}

async function answer(
  context: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<WhyAnswer> {
  const query = readQuery(request.query, ['key', 'pool', 'at'])
  if (query.key === undefined) throw refuse('the parameter key is missing', 'name the key: /v1/why?key=vm-17')
  const key = checkKey(query.key)
  const at = query.at === undefined ? null : readMoment(query.at)
  reply.header(MEMBER_HEADER, context.race.roster.id)
  const mayAsk = !isHop(request.headers)
  if (query.pool !== undefined) return tell(context, { pool: query.pool, key, at }, { mayAsk, alsoIn: [] })
  const found = await findKey(context, { key, at })
  const [pool, ...alsoIn] = found.pools
  if (pool === undefined) return absent(key, found, context.race.clock.now())
  return tell(context, { pool, key, at }, { mayAsk, alsoIn })
}

async function tell(
  context: ServerContext,
  asked: WhyAsked,
  { mayAsk, alsoIn }: { mayAsk: boolean; alsoIn: string[] },
): Promise<WhyAnswer> {
  const { race, pools } = context
  await pools.openToRead(asked.pool)
  const isTicks = race.known(asked.pool)?.isTicks ?? false
  const evidence = await gatherEvidence(race, asked, { isTicks })
  const owner = mayAsk ? ownerElsewhere(evidence) : null
  if (owner === null) return answerWhy(evidence, alsoIn)
  const answered = await askOwner(context, owner, asked)
  return answered.told === null
    ? withCause(answerWhy(evidence, alsoIn), answered)
    : { ...answered.told, alsoIn }
}

/** A living owner that may know more, where it can be asked; of what is not due yet it does not know more. */
function ownerElsewhere({ entry, partition }: Evidence): (OwnerEvidence & { address: string }) | null {
  if (entry?.state !== 'due' || partition === null || partition.isHere) return null
  const { owner } = partition
  if (owner === null || owner.silent || owner.address === null) return null
  return { ...owner, address: owner.address }
}

/** What is known here, and why the owner has not told more. */
function withCause(
  answer: WhyAnswer,
  { cause, remedy }: Exclude<OwnerAnswer, { told: WhyAnswer }>,
): WhyAnswer {
  const { reason, next } = answer
  const isOpen = reason === 'unknown' && remedy !== null
  return {
    ...answer,
    evidence: { ...answer.evidence, askedOwner: cause },
    next: isOpen ? [remedy, next].filter((part) => part !== null).join('; ') : next,
  }
}

function absent(key: string, { lookedIn, of, now }: FoundKey, clockNow: number): WhyAnswer {
  const isAll = lookedIn.length === of
  const where = isAll ? 'in any pool' : `in the first ${lookedIn.length} of ${of} pools`
  return {
    pool: null,
    key,
    now: toIso(now ?? clockNow),
    state: 'absent',
    reason: null,
    sentence: `there is no such entry ${where}: it was never put, or is done`,
    evidence: { lookedIn },
    next: isAll ? null : 'name its pool: --pool NAME',
    also: [],
    dueAt: null,
    partition: null,
    owner: null,
    alsoIn: [],
  }
}
