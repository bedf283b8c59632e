// What every route file shares: what it is handed, how a route describes itself, and how queries are read.
import { checkKey } from '../check.ts'
import type { ErrorCode } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import { nearest } from '../nearest.ts'
import type { EntryState } from '../pool/entry.ts'
import type { Admission } from './admission.ts'
import type { Drain } from './drain.ts'
import { refuse } from './json.ts'
import type { KnownPools } from './known-pools.ts'
import type { OwnTurn } from './own-turn.ts'
import type { Recent } from './recent.ts'

export interface ServerContext {
  race: Headrace
  pools: KnownPools
  drain: Drain
  /** For lists of thousands. */
  turns: OwnTurn
  /** When the server was built, by the monotonic clock. */
  startedAt: number
  /** Only this machine can ask. */
  local: boolean
  /** That of this server, and of those that it asks. */
  token: string | null
  /** What requests pass before their route. */
  admission: Admission
  /** Null: there are no ticks. */
  counts: Recent<Record<EntryState, number> | null>
}

/** A JSON Schema, as OpenAPI 3.1 prints it. */
export type Schema = Readonly<Record<string, unknown>>

/** How a route describes itself: its page in the OpenAPI document, and whether it needs a token. */
export interface RouteDoc {
  summary: string
  /** Answers without a token. */
  open?: true
  /** Other servers ask it, with a proof in place of the token. */
  forServers?: true
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** Content type → schema of the body. */
  body?: Readonly<Record<string, Schema>>
  /** Content type → schema of the answer. */
  answer: Readonly<Record<string, Schema>>
  /** The body may be left out. */
  optionalBody?: true
  /** Answers 202. */
  accepted?: true
  /** Answers 201. */
  created?: true
  errors?: readonly ErrorCode[]
}

/** What a route that reads from the store may answer, and one that writes to it. */
export const READ_ERRORS = ['store_busy', 'store_failed', 'not_running'] as const
export const WRITE_ERRORS = ['store_full', ...READ_ERRORS] as const

declare module 'fastify' {
  interface FastifyContextConfig {
    doc?: RouteDoc
  }
}

/** Refuses a path whose parts no store can hold, before anything is asked of one. */
export function checkParams(params: unknown): void {
  for (const [name, value] of Object.entries(params as Record<string, unknown>)) checkKey(value, name)
}

/** The query with each name at most once, or `invalid_input` that names what is not understood. */
export function readQuery<Name extends string>(
  query: unknown,
  names: readonly Name[],
): { [Key in Name]?: string } {
  const read: Record<string, string> = {}
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    if (!names.includes(name as Name)) throw unknownParameter(name, names)
    if (typeof value !== 'string') throw refuse(`the parameter ${name} is given twice`, 'give it once')
    if (value.includes('\0')) throw refuse(`the parameter ${name} holds a NUL character`, 'remove it')
    read[name] = value
  }
  return read as { [Key in Name]?: string }
}

/** A whole number of a query, or `invalid_input`. */
export function readNumber(text: string, name: string, bounds: { min: number; max: number }): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (number >= bounds.min && number <= bounds.max) return number
  throw refuse(
    `${name} is ${JSON.stringify(text.slice(0, 64))}`,
    `give a whole number from ${bounds.min} to ${bounds.max}`,
  )
}

function unknownParameter(name: string, names: readonly string[]): Error {
  const near = nearest(name.slice(0, 64), names)
  const known = names.length === 0 ? 'this route has none' : `the parameters are ${names.join(', ')}`
  return refuse(
    `there is no parameter ${JSON.stringify(name.slice(0, 64))}`,
    near === null ? known : `did you mean ${near}?`,
  )
}
