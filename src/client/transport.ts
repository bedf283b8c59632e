// One HTTP request and what can go wrong with it: a server that cannot be reached, an answer that is a problem
// document, an answer that is no JSON. Paths and meanings are the client's.
import { type Clock, LONGEST_TIMER_MS } from '../clock.ts'
import { HeadraceError, messageOf } from '../errors.ts'
import { maskAddress } from '../mask.ts'
import { refusalOf } from './problem.ts'

export interface TransportParts {
  /** Without a slash at its end. */
  server: string
  token: string | null
  timeoutMs: number
  clock: Clock
  /** Ends every request under way. */
  signal: AbortSignal | null
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** Absent values are left out. */
  query?: Record<string, string | number | undefined>
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Sends a request and answers its JSON as what the route is known to answer. */
export type Caller = <Answer>(request: Call) => Promise<Answer>

/** Sends a request and reads its JSON. */
export async function callJson(parts: TransportParts, call: Call): Promise<unknown> {
  const { response, release } = await open(parts, call)
  try {
    return await response.json()
  } catch (cause) {
    parts.signal?.throwIfAborted()
    throw unreadable(parts, cause)
  } finally {
    release()
  }
}

/** Sends a request whose answer has no end; the time limit holds until it begins. */
export async function callStream(parts: TransportParts, call: Call): Promise<ReadableStream<Uint8Array>> {
  const { response, release } = await open(parts, call)
  release()
  const type = response.headers.get('content-type') ?? 'nothing'
  if (response.body !== null && type.startsWith('text/event-stream')) return response.body
  await response.body?.cancel()
  throw unreadable(parts, new Error(`no stream of events, but ${type}`))
}

async function open(parts: TransportParts, call: Call): Promise<{ response: Response; release: () => void }> {
  const late = new AbortController()
  const limitMs = Math.min(parts.timeoutMs, LONGEST_TIMER_MS)
  const timer = parts.clock.timer(limitMs, () => late.abort(new Error(`no answer within ${limitMs} ms`)))
  const release = (): void => timer.cancel()
  const signals = [late.signal, call.signal, parts.signal].filter((signal) => signal instanceof AbortSignal)
  try {
    const response = await send(parts, call, AbortSignal.any(signals))
    if (response.ok) return { response, release }
    throw await refusalOf(response)
  } catch (error) {
    release()
    throw error
  }
}

async function send(parts: TransportParts, call: Call, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers }
  if (parts.token !== null) headers['authorization'] = `Bearer ${parts.token}`
  if (call.body !== undefined) headers['content-type'] = 'application/json'
  try {
    return await fetch(urlOf(parts.server, call), {
      method: call.method ?? 'GET',
      headers,
      signal,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    })
  } catch (cause) {
    parts.signal?.throwIfAborted()
    call.signal?.throwIfAborted()
    throw unreachable(parts, cause)
  }
}

function urlOf(server: string, { path, query = {} }: Call): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? `${server}${path}` : `${server}${path}?${search.toString()}`
}

function unreachable({ server }: TransportParts, cause: unknown): HeadraceError {
  return new HeadraceError('server_unreachable', `cannot reach the server at ${maskAddress(server)}`, {
    cause: new Error(reasonOf(cause), { cause }),
    remedy: 'start one with "headrace serve", or name another with --server or HEADRACE_SERVER',
  })
}

function unreadable({ server }: TransportParts, cause: unknown): HeadraceError {
  return new HeadraceError('server_refused', `the answer of ${maskAddress(server)} cannot be read`, {
    cause,
    remedy: 'is this the address of a Headrace server, and of the same version?',
  })
}

/** fetch says "fetch failed" and hides the reason one or two causes deeper. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof AggregateError && cause.errors.length > 0) return messageOf(cause.errors[0])
  return cause === undefined ? messageOf(error) : messageOf(cause)
}
