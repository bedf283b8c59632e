// The one place where an error of the driver or of the server becomes ours, and where it is decided which failed calls may
// be repeated.
import { HeadraceError, messageOf } from '../../errors.ts'

/** The server has undone the statement, whatever it was: deadlock, serialization. */
const UNDONE = new Set(['40001', '40P01'])
/** No connection was made, so nothing was sent. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '57P03',
  '53300',
])
/** The connection went away: the outcome of what was sent on it is unknown. */
const CUT = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '08000',
  '08003',
  '08006',
  '08P01',
])

/** Did it certainly do nothing, and may it succeed when it is tried again? */
export function wasUndone(error: unknown): boolean {
  const code = codeOf(error)
  return code !== null && (UNDONE.has(code) || NOT_CONNECTED.has(code))
}

/** Did it do nothing, since the session has no statement of its name, or another's? So it is where sessions are lent. */
export function wasMisnamed(error: unknown): boolean {
  return ['26000', '42P05'].includes(codeOf(error) ?? '')
}

/** Is the outcome unknown because the connection was cut? */
export function wasCut(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== null) return CUT.has(code)
  return (
    error instanceof Error &&
    /^(Connection terminated|Client has encountered|timeout exceeded|Query read timeout|server conn|query_wait)/i.test(
      error.message,
    )
  )
}

/**
 * Does the server refuse what is written, and would again? Values and sizes, a check, and what a trigger of the user's
 * own raises. Not one that must be unique: two who create the same thing at once may meet that.
 */
function wasWrong(error: unknown): boolean {
  return /^(22|54|2350[23]$|23514$|P0001$)/.test(codeOf(error) ?? '')
}

/** Does the server refuse writes, whatever is written? */
export function isRefusal(error: unknown): boolean {
  return ['53100', '25006', '58030'].includes(codeOf(error) ?? '')
}

/** The statement was of another life of the server than the current one. */
export const OTHER_LIFE = 'HR001'

/** Was the statement of another life of the server than the current one? It did nothing. */
export function wasOfOtherLife(error: unknown): boolean {
  return codeOf(error) === OTHER_LIFE
}

/** Does the server only read, as a replica does? */
export function isReadOnly(error: unknown): boolean {
  return codeOf(causeOf(error)) === '25006'
}

/** What a call meets that went to numbers of pools or topics which the store has no more. */
export function wentBack(address: string, cause?: unknown): HeadraceError {
  return new HeadraceError(
    'store_went_back',
    `${address} was restarted or went back to an earlier state, and this call was not made`,
    {
      cause,
      remedy: 'try again: the call was not made, and the store is known as it is now',
    },
  )
}

/** Was a row, or something else, locked by another for longer than the call would wait? */
export function wasLocked(error: unknown): boolean {
  return codeOf(causeOf(error)) === '55P03'
}

/** Did the server end the statement, since its time was over or somebody asked for it? */
export function wasEnded(error: unknown): boolean {
  return codeOf(causeOf(error)) === '57014'
}

/** Was that a row of this table? The server names it in every language, but not where others waited for the row before. */
export function wasLockedIn(error: unknown, table: string): boolean {
  const cause = causeOf(error)
  if (!wasLocked(error) || typeof cause !== 'object' || cause === null || !('where' in cause)) return false
  return new RegExp(`\\b${table}\\b`).test(String(cause.where))
}

function causeOf(error: unknown): unknown {
  return error instanceof HeadraceError ? error.cause : error
}

export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

interface Words {
  code: 'store_busy' | 'store_full' | 'store_failed'
  message: string
  remedy: string
}

/** By SQLSTATE, or the code of the system. */
const WORDS: Record<string, Words> = {
  '53100': {
    code: 'store_full',
    message: 'there is no room left',
    remedy: 'free some disk space; nothing acknowledged was lost, and work goes on when there is room',
  },
  '55P03': {
    code: 'store_busy',
    message: 'a row stayed locked by another transaction',
    remedy: 'try again; if it lasts, look for a transaction that is held open',
  },
  '57014': {
    code: 'store_busy',
    message: 'the change took too long and was undone',
    remedy: 'try again; if it lasts, look for load, or for a transaction that is held open',
  },
  '40P01': { code: 'store_busy', message: 'a deadlock was broken', remedy: 'try again' },
  '40001': { code: 'store_busy', message: 'another transaction came between', remedy: 'try again' },
  '53300': {
    code: 'store_busy',
    message: 'the server has no connection left',
    remedy: 'give a smaller `max` in the address, raise max_connections, or put a pooler before the server',
  },
  '28P01': {
    code: 'store_failed',
    message: 'the password is wrong',
    remedy: 'check user and password in the address',
  },
  '28000': {
    code: 'store_failed',
    message: 'the user may not connect',
    remedy: 'check the user, and pg_hba.conf',
  },
  '3D000': { code: 'store_failed', message: 'there is no such database', remedy: 'create it with createdb' },
  '42501': {
    code: 'store_failed',
    message: 'the user lacks a permission',
    remedy: 'grant the user its schema, or create on the database so that it can make it',
  },
  HR002: {
    code: 'store_busy',
    message: 'the schema is being restored',
    remedy:
      'try again when the restore is complete; if it is, the dump was not, and has to be restored again',
  },
  '25006': {
    code: 'store_failed',
    message: 'the server only reads',
    remedy: 'give the address of the primary',
  },
}

const UNREACHABLE = {
  code: 'store_failed',
  message: 'the server cannot be reached',
  remedy: 'check that PostgreSQL runs, and host and port in the address',
} as const

export function toHeadraceError(error: unknown, address: string): unknown {
  if (error instanceof HeadraceError || !isOfDriver(error)) return error
  const words = WORDS[codeOf(error) ?? ''] ?? (wasCut(error) || wasUndone(error) ? UNREACHABLE : null)
  const message = messageOf(error) || (codeOf(error) ?? 'no reason given')
  if (words === null && wasWrong(error)) {
    return new HeadraceError('store_refused', `${address}: ${message}`, {
      cause: error,
      remedy: 'look for a check or a trigger of your own, or a value that is too large',
    })
  }
  if (words === null) {
    return new HeadraceError('store_failed', `${address}: ${message}`, {
      cause: error,
      remedy: 'look into the log of the server',
    })
  }
  return new HeadraceError(words.code, `${address}: ${words.message} (${message})`, {
    cause: error,
    remedy: words.remedy,
  })
}

export function timedOut(address: string, timeoutMs: number): HeadraceError {
  return new HeadraceError('store_failed', `${address} did not answer within ${timeoutMs} ms`, {
    remedy: 'look for load, locks or a cut on the way to the server',
  })
}

/** Did the call wait in vain for a connection, since others had them all? */
export function wasQueued(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect')
}

export interface AllBusy {
  address: string
  afterMs: number
  max: number
  canGrow: boolean
}

export function allBusy({ address, afterMs, max, canGrow }: AllBusy): HeadraceError {
  const message = `${address}: all ${max} connections are busy, and none was free within ${Math.round(afterMs)} ms`
  const slow = 'look for load or locks that make calls slow'
  return new HeadraceError('store_busy', message, {
    remedy: canGrow ? `give a larger \`max\` in the address, make fewer calls at once, or ${slow}` : slow,
  })
}

/** An error of the server has a severity, one of the system a syscall, and the driver's own are known by their words. */
function isOfDriver(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    'severity' in error ||
    'syscall' in error ||
    wasCut(error) ||
    error instanceof AggregateError ||
    codeOf(error) !== null
  )
}
