// /v1/doctor: what this server finds of itself, its store and the roster, each with a remedy. Changes nothing.
import type { FastifyInstance } from 'fastify'
import { findingsOf } from '../roster/findings.ts'
import type { Finding } from '../store.ts'
import { VERSION } from '../version.ts'
import { type Check, checkAll } from './health.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, readQuery } from './route.ts'
import { DOCTOR } from './roster-schemas.ts'
import { readRoster } from './roster.ts'

const DOC: RouteDoc = {
  summary: 'What is wrong here, and what to do about it: readiness, the store, the roster.',
  answer: { 'application/json': DOCTOR },
  errors: ['invalid_input', ...READ_ERRORS],
}

export function addDoctor(app: FastifyInstance, context: ServerContext): void {
  app.get('/v1/doctor', { config: { doc: DOC } }, async (request) => {
    readQuery(request.query, [])
    const { store } = context.race
    const ready = checkAll(context).map(findingOf)
    const own = await store.inspect()
    // Last, so that its time is that of the answer.
    const roster = await readRoster(context.race)
    const findings = [...ready, ...own, ...findingsOf(roster)]
    return { now: roster.now, version: VERSION, store: store.address, findings }
  })
}

const REMEDIES: Record<string, string> = {
  server: 'it is stopping: ask another one',
  store: 'see whether the store is up, has room, and is not overloaded',
  'pulse age': 'see whether the store is up, and this process is not overloaded',
  trust: 'see whether the store is up, and this process is not overloaded',
}

function findingOf({ name, ok, detail }: Check): Finding {
  const remedy = REMEDIES[name] ?? 'restart this server; its stderr says why this part does not run'
  return { check: name, ok, detail, remedy: ok ? null : remedy }
}
