// Errors for people and programs: what failed, what the cause said, why, what to try; with --json the problem
// document. What exit code goes with an error is main.ts's.
import { styleText } from 'node:util'
import { ERROR_CODES, type ErrorCode, HeadraceError, messageOf } from '../errors.ts'
import { maskAddressesIn } from '../mask.ts'
import { escapeControls } from './output.ts'

export interface ErrorLook {
  json: boolean
  color: boolean
  verbose: boolean
}

export interface ProblemDocument {
  type: string
  title: string
  detail: string
  code: string
  remedy: string | null
  retryable: boolean
  errors?: { path: string; message: string }[]
}

/** What to try as commands, where the server's remedy speaks of routes. */
const COMMANDS: Partial<Record<ErrorCode, string>> = {
  entry_unknown: 'it may be done, and what is done is gone; what there is: headrace pool list POOL',
  unauthorized: 'set HEADRACE_TOKEN, or name the file that holds the token of the server: --token-file FILE',
  tick_unknown: 'it may have fired: headrace topic read ticks; what waits: headrace tick list',
}

export function formatError(error: unknown, look: ErrorLook): string {
  return maskAddressesIn(format(error, look))
}

function format(error: unknown, { json, color, verbose }: ErrorLook): string {
  if (json) return `${JSON.stringify(problemOf(error), null, 2)}\n`
  const { code, detail, title, remedy, retryable, errors = [] } = problemOf(error)
  const label = color ? styleText('red', `error[${code}]`, { validateStream: false }) : `error[${code}]`
  const lines = [
    `${label}  ${escapeControls(detail)}`,
    ...whatOf(error, errors).map((what, index) => field(index === 0 ? 'what' : '', what)),
    field('why', retryable ? `${title}; it may be over in a moment` : title),
    field(
      'try',
      COMMANDS[code as ErrorCode] ?? remedy ?? 'run it again with --verbose, and report what it says',
    ),
  ]
  if (verbose && error instanceof Error) {
    const stacks = [error.stack ?? error.message, ...causes(error.cause)]
    lines.push('', ...stacks.flatMap((stack) => stack.split('\n')).map(escapeControls))
  }
  return `${lines.join('\n')}\n`
}

function field(name: string, text: string): string {
  return `  ${name.padEnd(8)} ${escapeControls(text)}`
}

/** Each thing that the server found wrong, else what the cause of the error said. */
function whatOf(error: unknown, errors: { path: string; message: string }[]): string[] {
  if (errors.length > 0) return errors.map(({ path, message }) => `${path}: ${message}`)
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? [cause.message] : []
}

function causes(cause: unknown): string[] {
  return cause instanceof Error ? [`caused by ${cause.stack ?? cause.message}`, ...causes(cause.cause)] : []
}

/** Any error as a problem document: the server's own where there is one. */
export function problemOf(error: unknown): ProblemDocument {
  if (!(error instanceof HeadraceError)) {
    return {
      type: 'urn:headrace:internal',
      title: 'This is an error of Headrace itself',
      detail: messageOf(error),
      code: 'internal',
      remedy: null,
      retryable: false,
    }
  }
  const own = {
    type: `urn:headrace:${error.code}`,
    title: ERROR_CODES[error.code].title,
    detail: error.message,
    code: error.code,
    remedy: error.remedy,
    retryable: error.retryable,
  }
  const { cause } = error
  const isProblem = typeof cause === 'object' && cause !== null && !(cause instanceof Error)
  return isProblem ? { ...own, ...cause } : own
}
