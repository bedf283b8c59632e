// docs/reference/errors.md, from the table of codes, and the HTTP statuses that go with them.
import { ERROR_CODES, type ErrorCode, HeadraceError } from '../../src/errors.ts'
import { problemOf, statusOf } from '../../src/server/problem.ts'
import { block, code, page, table } from './markdown.ts'

export function writeErrorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([name, { title, retryable }]) => [
    code(name),
    title,
    retryable ? 'yes' : 'no',
    String(statusOf(name as ErrorCode)),
  ])
  const example = problemOf(
    new HeadraceError('tick_unknown', 'the item "user1234" has no tick', {
      remedy: 'it may have fired: look at its topic; list ticks with GET /v1/ticks',
    }),
  )
  return page(
    'Errors',
    '`src/errors.ts` and `src/server/problem.ts`',
    'The library throws `HeadraceError` with `code`, `message`, `remedy` and `retryable`. Codes are stable; ' +
      'messages are for people and may change. *Retryable* means that the same call may succeed later without a ' +
      'change. The command line prints the code in brackets; its exit codes are in [cli.md](cli.md).',
    'The server answers `application/problem+json` with the status of the code; a 503 carries `Retry-After`:',
    block('json', JSON.stringify(example, null, 2)),
    table(['code', 'meaning', 'retryable', 'HTTP status'], rows),
  )
}
