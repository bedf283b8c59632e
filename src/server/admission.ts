// What every request passes before its route: its caller is checked, it is counted among those that wait, and a login that
// failed is reported. Who is let in shares one bound; who has shown nothing has a smaller one of its own.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HeadraceError } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import { type Guard, hostGuard, proofGuard, refuseCrossSite, tokenGuard } from './auth.ts'
import { refuseEncoding } from './body.ts'
import { Load, OpenLoad } from './load.ts'

export type Admit = (request: FastifyRequest, reply: Pick<FastifyReply, 'raw'>) => void

export class Admission {
  readonly #race: Headrace
  readonly #token: string | null
  readonly #load = new Load()
  readonly #openLoad = new OpenLoad()
  readonly #callerCheck: Guard
  readonly #hopCheck: Guard

  constructor(race: Headrace, { token, host }: { token: string | null; host: string }) {
    this.#race = race
    this.#token = token
    this.#callerCheck = token === null ? hostGuard(host) : tokenGuard(token)
    this.#hopCheck = token === null ? this.#callerCheck : proofGuard(token, () => asked(race))
  }

  /** What a route lets in. */
  ofRoute(method: string, { open, forServers }: { open?: true; forServers?: true }): Admit {
    const guards: Guard[] = []
    if (this.#token === null || open !== true) {
      guards.push(forServers === true && method === 'GET' ? this.#hopCheck : this.#callerCheck)
    }
    if (method !== 'GET' && method !== 'HEAD') guards.push(refuseCrossSite, refuseEncoding)
    return (request, reply) => {
      this.#check(guards, request, reply)
      if (open === true) this.#openLoad.begin(request, reply)
      else this.#load.begin(request, reply)
    }
  }

  /** What is let in where there is no route. */
  readonly ofUnknown: Admit = (request, reply) => {
    this.#check([this.#callerCheck], request, reply)
  }

  /** Whether an open route may answer this request in full: its caller knows the token, or there is none to know. */
  isKnown(request: FastifyRequest): boolean {
    if (this.#token === null) return true
    if (request.headers.authorization === undefined) return false
    try {
      this.#callerCheck(request.headers, request.url)
      return true
    } catch (error) {
      this.#report(error, request)
      return false
    }
  }

  #check(guards: readonly Guard[], request: FastifyRequest, reply: Pick<FastifyReply, 'raw'>): void {
    try {
      for (const guard of guards) guard(request.headers, request.url)
    } catch (error) {
      this.#report(error, request)
      this.#openLoad.begin(request, reply)
      throw error
    }
  }

  #report(error: unknown, { headers, socket }: FastifyRequest): void {
    if (!(error instanceof HeadraceError) || error.code !== 'unauthorized') return
    const why = headers.authorization === undefined ? 'missing' : 'wrong'
    this.#race.telemetry.emit('http.unauthorized', { why, from: socket.remoteAddress ?? null })
  }
}

/** Whom a proof must be for, and by which time. */
function asked({ roster, clock }: Headrace): { member: string; at: number } {
  return { member: roster.id, at: clock.now() }
}
