// docs/reference/http.md, from what the routes say of themselves: the same as /openapi.json.
import { headrace } from '../../src/headrace.ts'
import { createServer } from '../../src/server/app.ts'
import type { DocumentedRoute } from '../../src/server/openapi.ts'
import { statusOf, successOf } from '../../src/server/problem.ts'
import type { Schema } from '../../src/server/route.ts'
import { block, code, page, table } from './markdown.ts'

export async function writeHttpPage(): Promise<string> {
  const race = await headrace({ store: 'memory:' })
  const { routes } = createServer(race, race.ticks())
  await race.stop()
  const list = routes.map(({ method, url, doc }) => [code(`${method} ${url}`), doc.summary])
  return page(
    'HTTP API',
    'what the routes say of themselves',
    'A running server answers the same as OpenAPI 3.1 at `/openapi.json`. Times are RFC 3339 in UTC with ' +
      'milliseconds; a time that you send has a zone, or is a whole number of milliseconds since 1970. With a token ' +
      'set, every route but `/healthy`, `/livez` and `/readyz` wants `Authorization: Bearer TOKEN`. Errors are ' +
      '`application/problem+json`: [errors.md](errors.md). A body has at most 1 MiB; NDJSON has no limit but 64 KiB ' +
      'a line.',
    'In the shapes below `name?` may be absent.',
    table(['route', 'does'], list),
    ...routes.flatMap(writeRoute),
  )
}

function writeRoute({ method, url, doc }: DocumentedRoute): string[] {
  const parameters = [
    ...Object.entries(doc.query ?? {}).map(([name, text]) => [code(`?${name}`), text]),
    ...Object.entries(doc.headers ?? {}).map(([name, text]) => [code(name), text]),
  ]
  const shapes = (kind: string, content: Readonly<Record<string, Schema>>): string[] =>
    group(content).flatMap(([types, text]) => [`${kind} (${types}):`, block('ts', text)])
  const errors = (doc.errors ?? []).map((error) => `${code(error)} ${statusOf(error)}`)
  return [
    `## ${method} ${url}`,
    doc.summary,
    ...(parameters.length === 0 ? [] : [table(['parameter', 'is'], parameters)]),
    ...shapes('Body', doc.body ?? {}),
    ...shapes(`Answer ${successOf(doc)}`, doc.answer),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.join(', ')}.`]),
  ]
}

/** Content types that share a shape are named together. */
function group(content: Readonly<Record<string, Schema>>): [string, string][] {
  const types = new Map<string, string[]>()
  for (const [type, schema] of Object.entries(content)) {
    const shape = shapeOf(schema)
    types.set(shape, [...(types.get(shape) ?? []), code(type)])
  }
  return [...types].map(([shape, names]) => [names.join(', '), shape])
}

/** A JSON Schema in the words of TypeScript; only what the schemas of this server use. */
function shapeOf(schema: Schema, indent = ''): string {
  const either = (schema['oneOf'] ?? schema['anyOf']) as Schema[] | undefined
  if (either !== undefined) return either.map((one) => shapeOf(one, indent)).join(' | ')
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => JSON.stringify(one)).join(' | ')
  if (schema['type'] === 'array') return listOf(shapeOf(schema['items'] as Schema, indent))
  if (schema['properties'] !== undefined) return objectOf(schema, indent)
  if (schema['type'] === 'integer') return 'number'
  return typeof schema['type'] === 'string' ? schema['type'] : 'unknown'
}

function listOf(item: string): string {
  return /^\w+$|^\{[^]*\}$/.test(item) ? `${item}[]` : `(${item})[]`
}

function objectOf(schema: Schema, indent: string): string {
  const required = schema['required'] as string[]
  const members = Object.entries(schema['properties'] as Record<string, Schema>).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?'
    const note = typeof member['description'] === 'string' ? ` // ${member['description']}` : ''
    return `${indent}  ${name}${mark}: ${shapeOf(member, `${indent}  `)}${note}\n`
  })
  return `{\n${members.join('')}${indent}}`
}
