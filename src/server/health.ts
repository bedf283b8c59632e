// Whether it lives, and whether it is ready. These routes need no token.
import type { FastifyInstance } from 'fastify'
import { type ErrorCode, messageOf } from '../errors.ts'
import { statusOf, toHeadraceError } from './problem.ts'
import type { RouteDoc, ServerContext } from './route.ts'
import { HEALTH, READINESS } from './schemas.ts'

const STORE_WITHIN_MS = 1000
/** At least; with a longer lease the pulse is slower. */
const PULSE_WITHIN_MS = 3000

const HEALTHY: RouteDoc = {
  summary: 'Answers as soon as it serves.',
  open: true,
  answer: { 'application/json': HEALTH },
}
const LIVE: RouteDoc = { ...HEALTHY, summary: 'The process lives.' }
const READY: RouteDoc = {
  summary: 'The store answers, every service runs, the roster is trusted, and the server is not draining.',
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
  app.get('/readyz', { config: { doc: READY } }, async (_request, reply) => {
    const checks = await checkAll(context)
    const ready = checks.every(({ ok }) => ok)
    if (!ready) reply.code(statusOf('not_running')).header('retry-after', '1')
    return { status: ready ? 'ready' : 'unready', checks }
  })
}

/** Everything that readiness means. */
export async function checkAll({ race, drain, local }: ServerContext): Promise<Check[]> {
  const age = Math.round(race.pulseAgeMs)
  const pulseWithinMs = Math.max(PULSE_WITHIN_MS, race.options.lease)
  return [
    { name: 'server', ok: !drain.draining, detail: drain.draining ? 'draining' : 'serving' },
    await checkStore(race, local),
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

/** What fails is told in full to this machine alone: a message may name the path of the store. */
async function checkStore({ store, clock }: ServerContext['race'], local: boolean): Promise<Check> {
  const late = new AbortController()
  const tell = (message: string, code: ErrorCode = 'store_failed'): string => (local ? message : code)
  const began = clock.mono()
  const answered = store.pulse({ beat: null, pools: [] }).then(
    ({ refusal }) => ({
      ok: refusal === null,
      detail: refusal === null ? `answered in ${Math.round(clock.mono() - began)} ms` : tell(refusal),
    }),
    (error: unknown) => ({ ok: false, detail: tell(messageOf(error), toHeadraceError(error).code) }),
  )
  const waited = clock
    .sleep(STORE_WITHIN_MS, late.signal)
    .then(() => ({ ok: false, detail: `no answer within ${STORE_WITHIN_MS} ms` }))
  const { ok, detail } = await Promise.race([answered, waited])
  late.abort()
  return { name: 'store', ok, detail }
}
