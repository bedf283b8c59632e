// Whether it lives, and whether it is ready. These routes need no token, so they answer from what is known already: the last
// pulse says how the store is, and no request asks the store anything.
import type { FastifyInstance } from 'fastify'
import { type ErrorCode, messageOf } from '../errors.ts'
import { statusOf, toHeadraceError } from './problem.ts'
import type { RouteDoc, ServerContext } from './route.ts'
import { HEALTH, READINESS } from './schemas.ts'

/** At least; with a longer lease the pulse is slower. */
const PULSE_WITHIN_MS = 3000

const HEALTHY: RouteDoc = {
  summary: 'Answers as soon as it serves.',
  open: true,
  answer: { 'application/json': HEALTH },
}
const LIVE: RouteDoc = { ...HEALTHY, summary: 'The process lives.' }
const READY: RouteDoc = {
  summary:
    'The store answered the last pulse, every service runs, the roster is trusted, and the server is not draining. ' +
    'Without the token of a server that has one the answer is the status alone.',
  open: true,
  answer: { 'application/json': READINESS },
  errors: ['not_running'],
}

export interface Check {
  name: string
  ok: boolean
  detail: string
}

export function addHealth(app: FastifyInstance, context: ServerContext): void {
  app.get('/healthy', { config: { doc: HEALTHY } }, () => Promise.resolve({ status: 'ok' }))
  app.get('/livez', { config: { doc: LIVE } }, () => Promise.resolve({ status: 'ok' }))
  app.get('/readyz', { config: { doc: READY } }, (request, reply) => {
    const checks = checkAll(context)
    const ready = checks.every(({ ok }) => ok)
    if (!ready) reply.code(statusOf('not_running')).header('retry-after', '1')
    const status = ready ? 'ready' : 'unready'
    return Promise.resolve(context.admission.isKnown(request) ? { status, checks } : { status })
  })
}

/** Everything that readiness means. */
export function checkAll({ race, drain, local }: ServerContext): Check[] {
  const age = Math.round(race.pulseAgeMs)
  const pulseWithinMs = Math.max(PULSE_WITHIN_MS, race.options.lease)
  return [
    { name: 'server', ok: !drain.draining, detail: drain.draining ? 'draining' : 'serving' },
    checkStore(race, local),
    { name: 'pulse age', ok: age < pulseWithinMs, detail: `${age} ms ago` },
    ...checkTrust(race),
    ...race.services().map(({ name, state }) => ({ name, ok: state === 'running', detail: state })),
  ]
}

/** A member that joined works on what it holds only while it trusts the roster. [O3] */
function checkTrust({ options, roster }: ServerContext['race']): Check[] {
  if (options.join === 'no') return []
  const ok = roster.isTrusted
  const doubt = 'the roster has not answered for so long that this member holds nothing until it does'
  return [{ name: 'trust', ok, detail: ok ? 'the roster answers' : doubt }]
}

/** How the last pulse went. A failure is reported in full to this machine alone: its message may name the path of the store. */
function checkStore({ pulseOutcome: last }: ServerContext['race'], local: boolean): Check {
  const name = 'store'
  if (last === null) return { name, ok: false, detail: 'no pulse was sent yet' }
  const { error, refusal, tookMs } = last
  const full = (message: string, code: ErrorCode): string => (local ? message : code)
  if (error !== null) {
    return { name, ok: false, detail: full(messageOf(error), toHeadraceError(error).code) }
  }
  if (refusal !== null) return { name, ok: false, detail: full(refusal, 'store_failed') }
  return { name, ok: true, detail: `answered in ${Math.round(tookMs)} ms` }
}
