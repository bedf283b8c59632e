// Sends seeded hostile requests to every route of a real server, and looks for answers 5xx and for secrets in answers and logs.
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { type Random, createRandom } from '../../src/random.ts'
import type { ServerProcess } from './server-process.ts'

export const FUZZ_TOKEN = 'fuzz-token-that-nobody-may-see-0123456789'

export interface Fuzzed {
  seed: number
  requests: number
  byStatus: Record<string, number>
  /** Requests that got an answer 5xx, none at all, or one that holds a secret. */
  failures: string[]
}

interface Route {
  method: string
  path: string
  query: string[]
}

interface Sent {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | null
  chunked: boolean
}

interface Answer {
  status: number
  text: string
}

const ANSWER_WITHIN_MS = 15_000
/** Streams never end: they are cut after so much, or so long. */
const STREAM_BYTES = 2000
const STREAM_MS = 50

const NAMES = [
  'ticks', 'jobs', 'none', '%00', 'a%00b', '..', '%2e%2e%2f', "'; drop table entry;--", '%F0%9F%92%A9', '-', '0', '-1',
  '9007199254740993', '99999999999999999999', '%C3%28', '__proto__', 'constructor', '%EF%BF%BF', ' ', '%0d%0aset-cookie: a=b',
  'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(513), '%E2%82%AC'.repeat(200), 'null', '%25s', '{}', '[]', '*', 'A'.repeat(4000),
] // prettier-ignore
const VALUES: readonly unknown[] = [
  null, true, false, 0, -1, 1e308, 2 ** 53 + 2, 0.1, '', 'a', '\0', 'a\0b', '\ud800', '2030-01-01T00:00:00Z', '9999-12-31T23:59:59Z',
  '10000-01-01T00:00:00Z', '-1', [], {}, [[]], { a: { b: {} } }, 'x'.repeat(600), 'yes', 'one', '1s', '-1s', '999999999d', '💩'.repeat(50),
] // prettier-ignore
const FIELDS = [
  'item', 'at', 'in', 'key', 'payload', 'onConflict', 'mode', 'partitions', 'fansOut', 'payloads', 'throttle', 'longestWait', 'group',
  'lane', 'by', 'reason', 'until', 'pool', 'concurrency', 'rate', 'preview', 'without', 'name', 'weight', 'release', 'took', 'had',
  'all', 'after', 'limit', 'error', 'keys', 'state', '__proto__', 'unknown',
] // prettier-ignore
const QUERIES = [
  'limit',
  'after',
  'from',
  'at',
  'state',
  'key',
  'pool',
  'by',
  'resource',
  'group',
  'reason',
  'window',
  'x',
]
const TYPES = [
  'application/json', 'application/x-ndjson', 'text/plain', 'application/json; charset=utf-16', 'application/xml', 'multipart/form-data',
  'a'.repeat(300), 'application/x-www-form-urlencoded',
] // prettier-ignore

export async function fuzz(
  server: ServerProcess,
  { seed, requests, secrets }: { seed: number; requests: number; secrets: readonly string[] },
): Promise<Fuzzed> {
  const random = createRandom(seed)
  const routes = await routesOf(server)
  const found: Fuzzed = { seed, requests: 0, byStatus: {}, failures: [] }
  const bystander = `{"item":"bystander","at":"2030-01-01T00:00:00Z"}`
  const headers = { authorization: `Bearer ${FUZZ_TOKEN}`, 'content-type': 'application/json' }
  await send(server, {
    method: 'PUT',
    path: '/v1/pools/jobs',
    headers,
    body: Buffer.from('{}'),
    chunked: false,
  })
  await send(server, {
    method: 'POST',
    path: '/ticks',
    headers,
    body: Buffer.from(bystander),
    chunked: false,
  })
  while (found.requests < requests) {
    // A few at once, as clients come; the seed decides what they are, not how they meet.
    const batch = Array.from({ length: 8 }, () => draw(random, routes))
    const answers = await Promise.all(batch.map((sent) => send(server, sent)))
    answers.forEach((answer, index) => judge(found, batch[index] as Sent, answer, secrets))
  }
  const leaked = secrets.filter((secret) => server.talk.includes(secret))
  for (const secret of leaked) found.failures.push(`the log holds the secret ${secret.slice(0, 6)}…`)
  return found
}

async function routesOf(server: ServerProcess): Promise<Route[]> {
  const headers = { authorization: `Bearer ${FUZZ_TOKEN}` }
  const answer = await send(server, {
    method: 'GET',
    path: '/openapi.json',
    headers,
    body: null,
    chunked: false,
  })
  if (answer instanceof Error) throw answer
  const { paths } = JSON.parse(answer.text.slice(answer.text.indexOf('\n') + 1)) as {
    paths: Record<string, Record<string, { parameters: { name: string; in: string }[] }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  )
}

function draw(random: Random, routes: readonly Route[]): Sent {
  const route = random.pick(routes)
  const isPost = route.method !== 'GET'
  return {
    method: random.next() < 0.03 ? random.pick(['PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) : route.method,
    path: drawPath(random, route),
    headers: drawHeaders(random, isPost),
    body: isPost || random.next() < 0.05 ? drawBody(random) : null,
    chunked: random.next() < 0.3,
  }
}

function drawPath(random: Random, { path, query }: Route): string {
  const filled = path.replaceAll(/\{\w+\}/g, () => {
    const name = random.pick(NAMES)
    return random.next() < 0.3
      ? random.pick(['ticks', 'jobs', '0', 'bystander'])
      : name.replaceAll(' ', '%20')
  })
  if (random.next() < 0.5) return filled
  const pairs = Array.from({ length: 1 + random.below(3) }, () => {
    const name = query.length > 0 && random.next() < 0.8 ? random.pick(query) : random.pick(QUERIES)
    return `${name}=${drawQuery(random)}`
  })
  return `${filled}?${pairs.join('&')}`
}

function drawQuery(random: Random): string {
  if (random.next() < 0.2) {
    const cursor = Array.from({ length: random.below(5) }, () => random.pick(VALUES))
    return Buffer.from(JSON.stringify(cursor)).toString('base64url')
  }
  const name = random.pick([
    ...NAMES,
    '1',
    '10',
    '1000',
    'waiting',
    'dead',
    'oldest',
    'head',
    '2030-01-01T00:00:00Z',
    '1s',
  ])
  return name.replaceAll(' ', '%20').replaceAll('&', '%26')
}

function drawHeaders(random: Random, isPost: boolean): Record<string, string> {
  const headers: Record<string, string> = {}
  const known = random.next()
  if (known < 0.9) headers['authorization'] = `Bearer ${FUZZ_TOKEN}`
  else if (known < 0.95)
    headers['authorization'] = random.pick(['Bearer', 'Basic eDp5', `Bearer ${'x'.repeat(3000)}`])
  if (isPost) headers['content-type'] = random.next() < 0.8 ? 'application/json' : random.pick(TYPES)
  if (random.next() < 0.1) headers['accept'] = 'text/event-stream'
  if (random.next() < 0.1) headers['idempotency-key'] = random.pick(['k1', 'k2', 'x'.repeat(600), '\u00ff'])
  if (random.next() < 0.1)
    headers['last-event-id'] = random.pick(['0:1,1:2', '-1', '99999999999999999', 'x', '0:', '5:5'])
  if (random.next() < 0.03) headers['content-encoding'] = random.pick(['gzip', 'identity', 'br, gzip'])
  if (random.next() < 0.03) headers['sec-fetch-site'] = random.pick(['cross-site', 'none', 'x'])
  if (random.next() < 0.02) headers['headrace-hop'] = random.pick(['x', 'v1;a;b', '0'.repeat(200)])
  if (random.next() < 0.02) headers['expect'] = random.pick(['100-continue', 'x'])
  return headers
}

function drawBody(random: Random): Buffer {
  const kind = random.next()
  if (kind < 0.1) return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)))
  if (kind < 0.2) return Buffer.from(JSON.stringify(drawObject(random)).slice(0, random.below(60)))
  if (kind < 0.3)
    return Buffer.from(Array.from({ length: random.below(20) }, () => drawLine(random)).join('\n'))
  if (kind < 0.4)
    return Buffer.from(JSON.stringify(Array.from({ length: random.below(30) }, () => drawObject(random))))
  if (kind < 0.45) return Buffer.from(JSON.stringify(random.pick(VALUES)))
  if (kind < 0.47) return Buffer.from(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
  return Buffer.from(JSON.stringify(drawObject(random)))
}

function drawLine(random: Random): string {
  return random.next() < 0.2
    ? random.pick(['', '{', '\0', 'x'.repeat(70_000), '[]', '\r'])
    : JSON.stringify(drawObject(random))
}

function drawObject(random: Random): Record<string, unknown> {
  const drawn = Array.from(
    { length: random.below(5) },
    () => [random.pick(FIELDS), random.pick(VALUES)] as const,
  )
  const at = '2030-01-01T00:00:00Z'
  const likely = random.pick([
    {},
    { item: 'a', at },
    { item: 'b', at },
    { at },
    { in: '1h' },
    { key: 'a', at },
  ])
  return { ...likely, ...Object.fromEntries(drawn) }
}

function judge(found: Fuzzed, sent: Sent, answer: Answer | Error, secrets: readonly string[]): void {
  found.requests += 1
  const what = `${sent.method} ${sent.path.slice(0, 300)} ${JSON.stringify(sent.headers['content-type'])} ${sent.body?.toString('utf8').slice(0, 300)}`
  if (answer instanceof Error) {
    const key = `no answer: ${answer.message}`
    found.byStatus[key] = (found.byStatus[key] ?? 0) + 1
    if (answer.message === 'late') found.failures.push(`no answer to ${what}`)
    return
  }
  const { status, text } = answer
  found.byStatus[status] = (found.byStatus[status] ?? 0) + 1
  if (status >= 500) found.failures.push(`${status} to ${what}: ${text.slice(0, 500)}`)
  if (secrets.some((secret) => text.includes(secret)))
    found.failures.push(`a secret in the answer to ${what}`)
  const isKnown = sent.headers['authorization'] === `Bearer ${FUZZ_TOKEN}`
  if (!isKnown && text.includes('bystander') && !sent.path.includes('bystander')) {
    found.failures.push(`an answer without a token shows data: ${what}`)
  }
}

function send(
  server: ServerProcess,
  { method, path, headers, body, chunked }: Sent,
): Promise<Answer | Error> {
  return new Promise((resolve) => {
    const framed = chunked || body === null ? headers : { ...headers, 'content-length': String(body.length) }
    const target = {
      host: '127.0.0.1',
      port: server.port,
      method,
      path,
      headers: { ...framed, host: 'localhost' },
    }
    let request
    try {
      request = httpRequest(target)
    } catch (error) {
      // Node itself refuses to send it.
      resolve(error as Error)
      return
    }
    const timer = setTimeout(() => request.destroy(new Error('late')), ANSWER_WITHIN_MS)
    const end = (answer: Answer | Error): void => {
      clearTimeout(timer)
      resolve(answer)
    }
    request.on('error', end).on('response', (response) => read(response, end))
    if (body !== null && chunked)
      for (let at = 0; at < body.length; at += 7000) request.write(body.subarray(at, at + 7000))
    request.end(body !== null && !chunked ? body : undefined)
  })
}

function read(response: IncomingMessage, end: (answer: Answer) => void): void {
  const status = response.statusCode ?? 0
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
  let text = `${JSON.stringify(response.headers)}\n`
  const finish = (): void => {
    end({ status, text })
    response.destroy()
  }
  response.on('data', (data: Buffer) => {
    text += data.toString()
    if (isStream && text.length > STREAM_BYTES) finish()
  })
  response.on('end', finish).on('error', finish)
  if (isStream) setTimeout(finish, STREAM_MS)
}
