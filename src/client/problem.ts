// The server's errors as ours: its code, its words, its remedy. The whole document stays as the cause.
import { ERROR_CODES, type ErrorCode, HeadraceError } from '../errors.ts'
import type { Problem } from './answers.ts'

export function errorOf(problem: Problem): HeadraceError {
  const { code, title = 'the server refused the request', detail = title, remedy = null } = problem
  return new HeadraceError(isErrorCode(code) ? code : 'server_refused', detail, {
    ...(remedy === null ? {} : { remedy }),
    cause: problem,
  })
}

/** The error of an answer that is no success; it may come from a proxy, and be no problem document at all. */
export async function refusalOf(response: Response): Promise<HeadraceError> {
  const text = await response.text().catch(() => '')
  return errorOf(parse(text) ?? { status: response.status, detail: `the server answered ${response.status}` })
}

function parse(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(ERROR_CODES, code)
}
