// Answers are as the OpenAPI document describes them: nothing that it requires is missing, and nothing stands there unnamed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dead } from '../../../src/pool/answer.ts'
import { type Serving, ask, serve, until } from './serving.ts'

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
}

interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >
}

/** What is wrong with a value, by the place it stands at. */
function faultsOf(value: unknown, schema: Schema, at: string): string[] {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) {
    const faults = choices.map((choice) => faultsOf(value, choice, at))
    return faults.find((found) => found.length === 0) ?? faults[0] ?? []
  }
  if (schema.enum !== undefined) return schema.enum.includes(value) ? [] : [`${at}: ${String(value)}`]
  if (schema.type === 'null') return value === null ? [] : [`${at}: not null`]
  if (schema.properties !== undefined) return faultsOfObject(value, schema, at)
  if (schema.type === 'array') {
    if (!Array.isArray(value)) return [`${at}: no list`]
    return value.flatMap((item, nth) => faultsOf(item, schema.items ?? {}, `${at}[${nth}]`))
  }
  if (schema.type === 'string' || schema.type === 'boolean')
    return typeof value === schema.type ? [] : [`${at}: no ${schema.type}`]
  return schema.type === 'integer' && !Number.isInteger(value) ? [`${at}: no integer`] : []
}

function faultsOfObject(value: unknown, { properties = {}, required = [] }: Schema, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${at}: no object`]
  const members = value as Record<string, unknown>
  return [
    ...required.filter((name) => !(name in members)).map((name) => `${at}.${name} is missing`),
    ...Object.entries(members).flatMap(([name, member]) => {
      const schema = properties[name]
      return schema === undefined
        ? [`${at}.${name} is not described`]
        : faultsOf(member, schema, `${at}.${name}`)
    }),
  ]
}

async function check(serving: Serving, document: Document, path: string, route = path): Promise<void> {
  const { status, body } = await ask(serving, 'GET', path)
  assert.equal(status, 200, path)
  const schema = document.paths[route]?.['get']?.responses['200']?.content?.['application/json']?.schema
  assert.ok(schema !== undefined, `${route} is described`)
  assert.deepEqual(faultsOf(body, schema, path), [])
}

test('what is read of pools, entries, deaths, limits and shares is as the OpenAPI document says', async (t) => {
  const serving = await serve(t)
  const pool = serving.race.pool('vms', { payloads: 'all' })
  const handler = ({ key }: { key: string }): ReturnType<typeof dead> => {
    if (key === 'b') return dead('unknown customer')
    throw new TypeError('no route')
  }
  serving.race.work(pool, handler, { retry: { attempts: 2, first: '1h' } })
  await pool.limit({ pool: { rate: { count: 1000, per: '1s', spread: true }, concurrency: 5 } })
  await pool.putAll(['a', 'b', 'b'].map((key) => ({ key, group: 'g', payload: key })))
  await until(async () => (await pool.count())['backing-off'] === 1, 'a failure')
  await until(async () => (await pool.count()).dead === 1, 'a death')
  const document = (await ask(serving, 'GET', '/openapi.json')).body as unknown as Document
  const paths = ['', '/entries', '/entries/a', '/limits', '/dead', '/dead/kinds']
  for (const path of paths) {
    const route = `/v1/pools/{pool}${path.replace('/a', '/{key}')}`
    await check(serving, document, `/v1/pools/vms${path}`, route)
  }
  for (const path of ['/v1/pools', '/v1/shares', '/readyz', '/v1/status'])
    await check(serving, document, path)
})
