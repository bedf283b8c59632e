// The HTTP server: builds Fastify, gives every route its guards and its telemetry, listens, and drains.
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { type RequestListener, type Server as HttpServer, createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HeadraceError, assert } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import type { Options } from '../options.ts'
import type { Ticks } from '../pool/ticks.ts'
import { Admission } from './admission.ts'
import { isLoopback, refuseOpenServer } from './auth.ts'
import { addBodyParsers } from './body.ts'
import { addBroadcast } from './broadcast.ts'
import { addDead } from './dead.ts'
import { addDoctor } from './doctor.ts'
import { Drain } from './drain.ts'
import { addEntries } from './entries.ts'
import { addEntriesPut } from './entries-put.ts'
import { addHealth } from './health.ts'
import { KnownPools } from './known-pools.ts'
import { addMeter } from './meter.ts'
import { addMetrics } from './metrics.ts'
import { type DocumentedRoute, addOpenApi } from './openapi.ts'
import { OwnTurn } from './own-turn.ts'
import { addPage } from './page.ts'
import { addPools } from './pools.ts'
import { EVERY_ANSWER, LARGEST_BODY_BYTES } from './problem.ts'
import { Recent } from './recent.ts'
import { answerBrokenRequest, answerError, answerExpectation, answerUnknownRoute } from './refusal.ts'
import { addRoster } from './roster.ts'
import { type ServerContext, checkParams } from './route.ts'
import { addShares } from './shares.ts'
import { addStatus } from './status.ts'
import { addControl } from './control.ts'
import { addStream } from './stream.ts'
import { addTicks } from './ticks.ts'
import { addTicksPost } from './ticks-post.ts'
import { addTopics } from './topics.ts'
import { addWhy } from './why.ts'

export type ServerOptions = Pick<Options, 'host' | 'port' | 'token' | 'behindProxy' | 'drainWithin'>

export interface Server {
  /** Every route with its description. */
  readonly routes: readonly DocumentedRoute[]
  /** Begins to serve; answers the address, such as `http://127.0.0.1:7400`. */
  listen(): Promise<string>
  /** Answers what is under way, takes nothing new, and ends within `drainWithin`. */
  close(): Promise<void>
}

const HEAD_WITHIN_MS = 10_000
const REQUEST_WITHIN_MS = 30_000
const KEEP_ALIVE_MS = 60_000
const LOOK_FOR_SLOW_MS = 5000
const MOST_CONNECTIONS = 10_000

/**
 * A server over a running Headrace; what `options` leaves out comes from its own options. Without ticks of its own it takes
 * requests for those of the store.
 */
export function createServer(
  race: Headrace,
  ticks: Ticks | null,
  options: Partial<ServerOptions> = {},
): Server {
  const settings: ServerOptions = { ...race.options, ...options }
  const pools = new KnownPools(race, ticks)
  const context: ServerContext = {
    race,
    pools,
    drain: new Drain(race.clock),
    turns: new OwnTurn(race.clock),
    startedAt: race.clock.mono(),
    local: isLoopback(settings.host),
    token: settings.token,
    admission: new Admission(race, settings),
    counts: new Recent(race.clock, async () => (await pools.ticksIfAny())?.count() ?? null),
  }
  const app = build(context)
  const routes = equipRoutes(app, context)
  addRoutes(app, context, routes)
  let closing: Promise<void> | null = null
  return {
    routes,
    listen: () => listen(app, settings),
    close: () => (closing ??= close(app, context, settings.drainWithin)),
  }
}

function build(context: ServerContext): FastifyInstance {
  const { drain } = context
  const app = Fastify({
    logger: false,
    bodyLimit: LARGEST_BODY_BYTES,
    return503OnClosing: false,
    serverFactory: createHttpServer,
    // An item is checked by its own rules, not by the length of its path.
    routerOptions: { maxParamLength: 16_384 },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, drain),
    frameworkErrors: (error, request, reply) => answerError(context, error, request, reply),
  })
  app.server.maxConnections = MOST_CONNECTIONS
  app.server.on('checkExpectation', answerExpectation)
  drain.watch(app.server)
  app.setErrorHandler((error, request, reply) => answerError(context, error, request, reply))
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(EVERY_ANSWER)
    if (drain.draining) reply.header('connection', 'close')
    done()
  })
  return app
}

/** A connection may be closed while the parser still holds hundreds of its requests: those are dropped without a route. */
function createHttpServer(route: RequestListener): HttpServer {
  const limits = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_WITHIN_MS,
    headersTimeout: HEAD_WITHIN_MS,
    connectionsCheckingInterval: LOOK_FOR_SLOW_MS,
  }
  return createHttp(limits, (request, response) => {
    if (!request.socket.destroyed) route(request, response)
  })
}

/** Guards, bounds and counts every route that is added from here on, whoever adds it. */
function equipRoutes(app: FastifyInstance, { race, admission }: ServerContext): DocumentedRoute[] {
  const routes: DocumentedRoute[] = []
  app.addHook('onRoute', (route: RouteOptions) => {
    const doc = route.config?.doc
    const method = String(route.method)
    assert(doc !== undefined, `the route ${method} ${route.url} describes itself`)
    if (method !== 'HEAD') routes.push({ method, url: route.url, doc })
    const admit = admission.ofRoute(method, doc)
    route.onRequest = (request, reply, done) => {
      admit(request, reply)
      checkParams(request.params)
      done()
    }
    route.onResponse = (_request, reply, done) => {
      const { statusCode: status, elapsedTime: tookMs } = reply
      race.telemetry.emit('http.answered', { route: route.url, method, status, tookMs })
      done()
    }
  })
  app.setNotFoundHandler((request, reply) => {
    admission.ofUnknown(request, reply)
    answerUnknownRoute(routes, request, reply)
    const { statusCode: status, elapsedTime: tookMs } = reply
    race.telemetry.emit('http.answered', { route: 'unknown', method: request.method, status, tookMs })
  })
  return routes
}

function addRoutes(app: FastifyInstance, context: ServerContext, routes: DocumentedRoute[]): void {
  addBodyParsers(app)
  addTicksPost(app, context)
  addTicks(app, context)
  addPools(app, context)
  addEntries(app, context)
  addEntriesPut(app, context)
  addDead(app, context)
  addControl(app, context)
  addTopics(app, context)
  addShares(app, context)
  addStream(app, context)
  addRoster(app, context)
  addHealth(app, context)
  addDoctor(app, context)
  addMetrics(app, context)
  addMeter(app, context)
  addBroadcast(app, context)
  addWhy(app, context)
  addStatus(app, context)
  addPage(app, context)
  addOpenApi(app, routes)
}

async function listen(app: FastifyInstance, settings: ServerOptions): Promise<string> {
  const { host, port } = settings
  refuseOpenServer(settings)
  await app.ready()
  const { server } = app
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refuseListen(error, { host, port })))
    // One address even where `localhost` has two, so that there is one server to drain.
    server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }, resolve)
  })
  const { address, family, port: taken } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}

function refuseListen(error: NodeJS.ErrnoException, at: { host: string; port: number }): HeadraceError {
  if (error.code === 'EADDRINUSE') {
    return new HeadraceError('address_in_use', `the port ${at.port} of ${at.host} is taken`, {
      remedy: 'stop what listens there, or choose another port with --port',
      cause: error,
    })
  }
  return new HeadraceError('invalid_options', `cannot listen on ${at.host}:${at.port}: ${error.message}`, {
    remedy: 'choose an address of this machine, and a port that you may use',
    cause: error,
  })
}

async function close(app: FastifyInstance, { drain }: ServerContext, withinMs: number): Promise<void> {
  await app.ready()
  await drain.end(app.server, withinMs)
  await app.close()
}
