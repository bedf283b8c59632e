// Errors as answers: problem+json with a stable code, what is wrong and what to do. The only file that knows
// HTTP statuses.
import { ERROR_CODES, type ErrorCode, HeadraceError } from '../errors.ts'

export const OK = 200
export const CREATED = 201
/** The status of a put that is durable and will be done later. */
export const ACCEPTED = 202

const STATUS: Record<ErrorCode, number> = {
  invalid_input: 400,
  invalid_options: 400,
  pool_mismatch: 409,
  pool_unknown: 404,
  entry_unknown: 404,
  entry_due: 409,
  entry_exists: 409,
  payloads_full: 409,
  topic_mismatch: 409,
  resource_mismatch: 409,
  topic_unknown: 404,
  share_unknown: 404,
  share_in_use: 409,
  shares_full: 409,
  collector_unknown: 404,
  partition_unknown: 404,
  member_unknown: 404,
  offset_gone: 410,
  tick_unknown: 404,
  tick_due: 409,
  tick_exists: 409,
  idempotency_mismatch: 422,
  store_unknown: 500,
  store_newer: 500,
  store_busy: 503,
  store_full: 503,
  store_failed: 503,
  store_went_back: 503,
  store_replaced: 503,
  store_refused: 500,
  not_running: 503,
  token_required: 500,
  address_in_use: 500,
  unauthorized: 401,
  cross_site: 403,
  host_unknown: 403,
  body_too_large: 413,
  media_type: 415,
  route_unknown: 404,
  method_unknown: 405,
  request_timeout: 408,
  headers_too_large: 431,
  internal: 500,
  server_unreachable: 502,
  server_refused: 502,
}

export interface FieldError {
  /** Where in the body, such as `[2].at`. */
  path: string
  message: string
}

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: ErrorCode
  remedy: string
  retryable: boolean
  instance?: string
  errors?: FieldError[]
}

/** Several things are wrong with one body. */
export class InvalidFields extends HeadraceError {
  readonly errors: FieldError[]

  constructor(message: string, errors: FieldError[]) {
    super('invalid_input', message, { remedy: 'correct what `errors` names; nothing was put' })
    this.errors = errors
  }
}

/** The server refuses by itself, under a code of the store: its message names nothing of the store, and may be shown. */
export class ServerBusy extends HeadraceError {
  constructor(message: string, remedy: string) {
    super('store_busy', message, { remedy })
  }
}

/** What a store says of itself may name its file, user or host, or the data of others. Clients get the code and its title. */
export function isOfStore(error: HeadraceError): boolean {
  return error.code.startsWith('store_') && !(error instanceof ServerBusy)
}

/** On every answer, whoever writes it: nothing is guessed from its content, and no other site may embed it. */
export const EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** The status of a route that did what it was asked for. */
export function successOf({ accepted, created }: { accepted?: true; created?: true }): number {
  if (created === true) return CREATED
  return accepted === true ? ACCEPTED : OK
}

export function statusOf(code: ErrorCode): number {
  return STATUS[code]
}

export function problemOf(error: HeadraceError, instance?: string): Problem {
  const { title, retryable } = ERROR_CODES[error.code]
  const hidden = isOfStore(error)
  return {
    type: `urn:headrace:${error.code}`,
    title,
    status: STATUS[error.code],
    detail: hidden ? `${title}; the output of the server says why` : error.message,
    code: error.code,
    remedy: (hidden ? null : error.remedy) ?? (retryable ? 'try again in a second' : 'change the request'),
    retryable,
    ...(instance === undefined ? {} : { instance }),
    ...(error instanceof InvalidFields ? { errors: error.errors } : {}),
  }
}

/** Headers that go with a problem. */
export function headersOf(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': PROBLEM_TYPE }
  if (problem.status === STATUS.not_running) headers['retry-after'] = '1'
  if (problem.status === STATUS.unauthorized) headers['www-authenticate'] = 'Bearer'
  return headers
}

/** Any error as one of ours. What is neither ours nor the caller's doing becomes `internal`, and says nothing more. */
export function toHeadraceError(error: unknown): HeadraceError {
  if (error instanceof HeadraceError) return error
  const { code, statusCode } = (error ?? {}) as { code?: string; statusCode?: number }
  const known = code === undefined ? undefined : FRAMEWORK[code]
  if (known !== undefined) return new HeadraceError(known.code, known.message, { remedy: known.remedy })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return brokenRequest(error)
  return new HeadraceError('internal', 'the server met an error of its own', {
    remedy: "try again; if it stays, look at the server's own output and report it",
    cause: error,
  })
}

/** What the HTTP parser refused: always the client's doing. */
export function toClientError(error: { code?: string }): HeadraceError {
  return error.code !== undefined && error.code in FRAMEWORK ? toHeadraceError(error) : brokenRequest(error)
}

function brokenRequest(cause: unknown): HeadraceError {
  return new HeadraceError('invalid_input', 'the request could not be read', {
    remedy: 'send one complete HTTP request',
    cause,
  })
}

export const LARGEST_BODY_BYTES = 1024 * 1024

export function bodyTooLarge(): HeadraceError {
  return toHeadraceError({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
}

/** A body in many small chunks: each costs hundreds of bytes on its way. */
export function bodyTooSplit(most: number): HeadraceError {
  return new HeadraceError(
    'body_too_large',
    `the body comes in more than ${most} chunks, which is the limit`,
    {
      remedy: 'send it in larger chunks, or with a Content-Length',
    },
  )
}

/** What Fastify and Node refuse by themselves, in our words. */
const FRAMEWORK: Record<string, { code: ErrorCode; message: string; remedy: string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'body_too_large',
    message: `the body has more than ${LARGEST_BODY_BYTES} bytes, which is the limit`,
    remedy: 'send less in one request, or stream NDJSON, which has no limit but 64 KiB a line',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'media_type',
    message: 'the content type of the body is not understood',
    remedy: 'send application/json, or application/x-ndjson to POST /ticks',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'invalid_input',
    message: 'the body has another length than its Content-Length says',
    remedy: 'send the whole body',
  },
  FST_ERR_BAD_URL: {
    code: 'invalid_input',
    message: 'the path is not a well-formed URL',
    remedy: 'percent-encode it as UTF-8',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    message: 'the request did not arrive in time: 10 seconds for its head, 30 for the whole',
    remedy: 'send it faster; stream large loads as NDJSON',
  },
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    message: 'the headers have more than 16 KiB, which is the limit',
    remedy: 'send fewer or shorter headers',
  },
}
