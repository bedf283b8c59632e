// How long a put may be put off by those that replace it, as a caller says it. Rule [M10] of docs/spec/pool.md.
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import type { Mode, OnConflict } from './entry.ts'
import type { Put } from './merge.ts'

export function longestWaitOf(
  { longestWait, onConflict }: { longestWait?: Duration; onConflict?: OnConflict },
  { mode }: { mode: Mode },
): Pick<Put, 'longestWaitMs'> {
  if (longestWait === undefined) return {}
  const longestWaitMs = toMs(longestWait, 'invalid_input')
  if (onConflict === 'replace' && mode === 'one' && longestWaitMs > 0) return { longestWaitMs }
  const why =
    longestWaitMs === 0
      ? 'of 0'
      : mode === 'each'
        ? 'in a pool of mode each'
        : 'without `onConflict: replace`'
  throw new HeadraceError('invalid_input', `a put has a longest wait ${why}`, {
    remedy: 'name it beside `onConflict: replace`, in a pool of mode one, or leave it out',
  })
}
