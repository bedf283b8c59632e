// A real server on 127.0.0.1 over the memory store, and ways to talk to it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/clock.ts'
import { type Headrace, headrace } from '../../../src/headrace.ts'
import type { OptionsInput } from '../../../src/options.ts'
import type { Mode } from '../../../src/pool/entry.ts'
import type { Ticks } from '../../../src/pool/ticks.ts'
import { type Server, type ServerOptions, createServer } from '../../../src/server/app.ts'
import type { Overrides } from '../../../src/overrides.ts'

export const LATER = '2030-01-01T00:00:00.000Z'

export interface Serving {
  race: Headrace
  ticks: Ticks
  server: Server
  url: string
  port: number
}

export interface ServeOptions extends Partial<ServerOptions> {
  mode?: Mode
  /** Options of the Headrace itself. */
  race?: OptionsInput
}

/** A test, or whoever else ends what was started. */
export interface Ending {
  after(end: () => Promise<void>): void
}

export async function serve(
  t: Ending,
  { mode = 'each', race: given = {}, ...options }: ServeOptions = {},
  overrides: Overrides = {},
): Promise<Serving> {
  const race = await headrace({ store: 'memory:', partitions: 4, log: 'silent', ...given }, overrides)
  const ticks = race.ticks('ticks', { mode })
  await race.start()
  const server = createServer(race, ticks, { port: 0, drainWithin: 0, ...options })
  const url = await server.listen()
  t.after(async () => {
    await server.close()
    await race.stop()
  })
  return { race, ticks, server, url, port: Number(new URL(url).port) }
}

export interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

export async function ask(
  { url }: Pick<Serving, 'url'>,
  method: string,
  path: string,
  { body, headers = {} }: { body?: string | Buffer; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const init: RequestInit = { method, headers: { ...type, ...headers } }
  if (body !== undefined) init.body = body as string
  const response = await fetch(url + path, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : { text }) as Record<string, unknown>,
  }
}

export function post(
  serving: Serving,
  value: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(serving, 'POST', '/ticks', { body: JSON.stringify(value), headers })
}

export interface LineAnswer {
  line: number
  item?: string
  result?: string
  error?: { code: string; detail: string; remedy: string }
}

/** Posts lines and answers the results. */
export async function postLines({ url }: Serving, body: string | Buffer): Promise<LineAnswer[]> {
  const headers = { 'content-type': 'application/x-ndjson' }
  const response = await fetch(`${url}/ticks`, { method: 'POST', headers, body: body as string })
  assert.equal(response.status, 202)
  return readLines(await response.text())
}

export function readLines(text: string): LineAnswer[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as LineAnswer)
}

/** A bare connection that collects what it receives. */
export class Wire {
  readonly socket: Socket
  received = ''
  failure: Error | null = null

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => (this.received += text))
    socket.on('error', (error) => (this.failure = error))
  }

  get closed(): boolean {
    return this.socket.closed || this.socket.readableEnded
  }

  /** Waits until the answer holds this text. */
  async receives(text: string, withinMs = 5000): Promise<void> {
    await until(() => this.received.includes(text), `"${text}" in ${this.received.slice(0, 500)}`, withinMs)
  }
}

export async function openWire(t: TestContext, { port }: Pick<Serving, 'port'>): Promise<Wire> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return new Wire(socket)
}

export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 5000,
): Promise<void> {
  const deadline = systemClock.mono() + withinMs
  while (!(await holds())) {
    assert.ok(systemClock.mono() < deadline, `waited ${withinMs} ms for ${what}`)
    await systemClock.sleep(5)
  }
}

/** A clock on which time passes `times` as fast. */
export function fastClock(times: number): NonNullable<Overrides['clock']> {
  return {
    ...systemClock,
    mono: () => systemClock.mono() * times,
    timer: (delayMs, call, options) => systemClock.timer(delayMs / times, call, options),
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / times, signal),
  }
}

/** What every problem has: its code, what is wrong, and what to do; and nothing of the inside. */
export function assertProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.equal(answer.body['code'], code)
  assert.equal(answer.body['status'], status)
  for (const name of ['type', 'title', 'detail', 'remedy']) {
    assert.ok(typeof answer.body[name] === 'string' && answer.body[name] !== '', `${name} is a text`)
  }
  assert.doesNotMatch(JSON.stringify(answer.body), /node_modules|\.ts:\d|\bat \w+ \(/)
}
