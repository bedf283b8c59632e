// The OpenAPI document, written from what the routes say of themselves.
import type { FastifyInstance } from 'fastify'
import type { ErrorCode } from '../errors.ts'
import { VERSION } from '../version.ts'
import { statusOf, successOf } from './problem.ts'
import type { RouteDoc, Schema } from './route.ts'
import { PROBLEM } from './schemas.ts'

export interface DocumentedRoute {
  method: string
  url: string
  doc: RouteDoc
}

const DOC: RouteDoc = { summary: 'This document.', answer: { 'application/json': { type: 'object' } } }

export function addOpenApi(app: FastifyInstance, routes: readonly DocumentedRoute[]): void {
  app.get('/openapi.json', { config: { doc: DOC } }, () => Promise.resolve(writeOpenApi(routes)))
}

export function writeOpenApi(routes: readonly DocumentedRoute[]): unknown {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = (paths[openApiPath(route.url)] ??= {})
    path[route.method.toLowerCase()] = operation(route)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Headrace', version: VERSION, license: { name: 'MIT', identifier: 'MIT' } },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: { Problem: PROBLEM },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

/** `/v1/ticks/:item` → `/v1/ticks/{item}`. */
export function openApiPath(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

function operation(route: DocumentedRoute): unknown {
  const { method, url, doc } = route
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name)
  return {
    operationId: `${method.toLowerCase()}${url.replaceAll(/[^a-z0-9]+/gi, '-')}`,
    summary: doc.summary,
    ...(doc.open === true ? { security: [] } : {}),
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...parameters('query', doc.query),
      ...parameters('header', doc.headers),
    ],
    ...(doc.body === undefined
      ? {}
      : { requestBody: { required: doc.optionalBody !== true, content: content(doc.body) } }),
    responses: responses(route),
  }
}

function parameters(place: 'query' | 'header', described: Readonly<Record<string, string>> = {}): unknown[] {
  return Object.entries(described).map(([name, description]) => {
    return { name, in: place, description, schema: { type: 'string' } }
  })
}

function responses({ method, doc }: DocumentedRoute): unknown {
  const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  const byStatus = new Map<number, string[]>()
  for (const code of codesOf(method, doc)) {
    const status = statusOf(code)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return {
    [successOf(doc)]: { description: 'Done.', content: content(doc.answer) },
    ...Object.fromEntries(
      [...byStatus].map(([status, of]) => [status, { description: of.join(', '), content: problem }]),
    ),
  }
}

/** What the route names, and what its guards and the server itself may answer in its place. */
function codesOf(method: string, { errors = [], open, body }: RouteDoc): ErrorCode[] {
  const codes: ErrorCode[] = [...errors, 'host_unknown']
  if (open !== true) codes.push('unauthorized', 'internal')
  if (method !== 'GET') codes.push('cross_site')
  if (body !== undefined) codes.push('request_timeout', 'body_too_large', 'media_type')
  return codes
}

function content(schemas: Readonly<Record<string, Schema>>): unknown {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]))
}
