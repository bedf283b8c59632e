// Sends problems: for errors of handlers, of Fastify, of unknown routes, and of requests that are no HTTP.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type IncomingMessage, STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HeadraceError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import type { Drain } from './drain.ts'
import { EVERY_ANSWER, headersOf, isOfStore, problemOf, toClientError, toHeadraceError } from './problem.ts'
import type { ServerContext } from './route.ts'
import { dropRest } from './unread.ts'

export function answerError(
  { race }: ServerContext,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const error = toHeadraceError(thrown)
  if (error.code === 'internal') {
    const route = request.routeOptions.url ?? ''
    race.telemetry.emit('http.failed', { route, method: request.method, error: thrown })
  }
  if (isOfStore(error)) {
    const route = request.routeOptions.url ?? ''
    race.telemetry.emit('http.unserved', { route, method: request.method, error })
  }
  // Fastify closes after a body it did not read; the rest is dropped instead, so that the answer can be read.
  reply.removeHeader('connection')
  if (error.code === 'body_too_large') dropRest(request.raw)
  send(error, request, reply)
}

export function answerUnknownRoute(
  routes: readonly { method: string; url: string }[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const path = pathOf(request)
  const methods = routes.filter(({ url }) => matches(url, path)).map(({ method }) => method)
  if (methods.length === 0) {
    const near = nearest(path.slice(0, 64), [...new Set(routes.map(({ url }) => url))])
    const error = new HeadraceError('route_unknown', `there is no ${path.slice(0, 256)}`, {
      remedy: near === null ? 'see /openapi.json for every route' : `did you mean ${near}?`,
    })
    send(error, request, reply)
    return
  }
  reply.header('allow', methods.join(', '))
  const error = new HeadraceError(
    'method_unknown',
    `${path.slice(0, 256)} does not answer ${request.method}`,
    {
      remedy: `use ${methods.join(' or ')}`,
    },
  )
  send(error, request, reply)
}

/** Answers on the bare socket what the HTTP parser refused. */
export function answerBrokenRequest(thrown: Error & { code?: string }, socket: Socket, drain: Drain): void {
  // A stream of lines may take as long as it likes; it watches for silence itself.
  if (thrown.code === 'ERR_HTTP_REQUEST_TIMEOUT' && drain.isExempt(socket)) return
  if (thrown.code === 'ECONNRESET' || !socket.writable || drain.isExempt(socket)) {
    socket.destroy()
    return
  }
  const problem = problemOf(toClientError(thrown))
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    ...Object.entries({ ...headersOf(problem), ...EVERY_ANSWER }).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** Answers a request that expects more than `100-continue`. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const expected = JSON.stringify(String(request.headers.expect).slice(0, 64))
  const error = new HeadraceError('invalid_input', `nothing here can meet the expectation ${expected}`, {
    remedy: 'leave the header Expect out',
  })
  const problem = problemOf(error)
  // Whether the body comes is not known, so nothing after it can be told apart.
  response.writeHead(problem.status, { ...headersOf(problem), ...EVERY_ANSWER, connection: 'close' })
  response.end(JSON.stringify(problem))
}

function send(error: HeadraceError, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error, pathOf(request))
  void reply.code(problem.status).headers(headersOf(problem)).send(JSON.stringify(problem))
}

/** The path alone: a query may hold what should not be repeated. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => part === given[index] || part.startsWith(':'))
  )
}
