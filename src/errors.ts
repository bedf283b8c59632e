// HeadraceError and the table of its codes. HTTP statuses live in server/problem.ts, exit codes in cli/main.ts.

/** Every code, what it means, and whether the same call may succeed later without a change. */
export const ERROR_CODES = {
  invalid_input: { title: 'The input is not valid', retryable: false },
  invalid_options: { title: 'The options are not valid', retryable: false },
  pool_mismatch: { title: 'The pool was created with other settings', retryable: false },
  pool_unknown: { title: 'There is no such pool', retryable: false },
  entry_unknown: { title: 'There is no such entry', retryable: false },
  entry_due: { title: 'The entry is due already', retryable: false },
  entry_exists: { title: 'The entry exists already', retryable: false },
  payloads_full: { title: 'The entry holds as many payloads as it may', retryable: true },
  topic_mismatch: { title: 'The topic was created with other settings', retryable: false },
  topic_unknown: { title: 'There is no such topic', retryable: false },
  resource_mismatch: { title: 'The resource was shared with other settings', retryable: false },
  share_unknown: { title: 'There is no such share', retryable: false },
  share_in_use: { title: 'The share has collectors', retryable: true },
  shares_full: { title: 'There are as many shares or collectors as there may be', retryable: true },
  collector_unknown: { title: 'There is no such collector', retryable: false },
  partition_unknown: { title: 'The topic has no such partition', retryable: false },
  member_unknown: { title: 'There is no such member', retryable: false },
  offset_gone: { title: 'Retention has removed these events', retryable: false },
  tick_unknown: { title: 'There is no such tick', retryable: false },
  tick_due: { title: 'The tick is due already', retryable: false },
  tick_exists: { title: 'The tick exists already', retryable: false },
  idempotency_mismatch: { title: 'The idempotency key was used with another body', retryable: false },
  store_unknown: { title: 'The store address is not understood', retryable: false },
  store_newer: { title: 'The store was written by a newer Headrace', retryable: false },
  store_busy: { title: 'The store is busy', retryable: true },
  store_full: { title: 'The store has no room left', retryable: true },
  store_failed: { title: 'The store failed', retryable: true },
  store_went_back: { title: 'The store was restarted or went back', retryable: true },
  store_replaced: { title: 'The file of the store was replaced while it was open', retryable: false },
  store_refused: { title: 'The store refuses what is to be written', retryable: false },
  not_running: { title: 'Headrace is not running', retryable: true },
  token_required: { title: 'A token is required', retryable: false },
  address_in_use: { title: 'The port is taken', retryable: false },
  unauthorized: { title: 'The token is missing or wrong', retryable: false },
  cross_site: { title: 'Another site may not change anything here', retryable: false },
  host_unknown: { title: 'The server does not go by this name', retryable: false },
  body_too_large: { title: 'The body is too large', retryable: false },
  media_type: { title: 'The content type is not understood', retryable: false },
  route_unknown: { title: 'There is no such route', retryable: false },
  method_unknown: { title: 'The route does not answer this method', retryable: false },
  request_timeout: { title: 'The request came too slowly', retryable: true },
  headers_too_large: { title: 'The headers are too large', retryable: false },
  internal: { title: 'Something failed that should not', retryable: true },
  server_unreachable: { title: 'The server cannot be reached', retryable: true },
  server_refused: { title: 'The server refused the request', retryable: false },
} as const satisfies Record<string, { title: string; retryable: boolean }>

export type ErrorCode = keyof typeof ERROR_CODES

export interface ErrorDetails {
  /** What to do about it, one sentence. */
  remedy?: string
  cause?: unknown
}

/** An operating error. The message names the thing, the limit and the actual value. */
export class HeadraceError extends Error {
  override readonly name = 'HeadraceError'
  readonly code: ErrorCode
  readonly remedy: string | null

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.remedy = details.remedy ?? null
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable
  }
}

/** Whether the same call would be refused again, however often it is tried. */
export function isRefused(error: unknown): boolean {
  return error instanceof HeadraceError && !error.retryable
}

/** A programmer's error: an assumption of the code does not hold. Stays on in production. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
