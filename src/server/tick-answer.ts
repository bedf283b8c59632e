// What a posted tick is answered: its result, or that it exists already. Written by hand, for speed.
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import type { PutAnswer } from '../pool/merge.ts'
import type { TickPut } from './tick-input.ts'

/** The members of the answer, without the braces; `tick_exists` when the tick was not to exist. */
export function writeResult({ key, at, rejects }: TickPut, { result }: PutAnswer): string {
  if (rejects && result === 'kept') throw tickExists(key)
  return `"item":${JSON.stringify(key)},"at":"${toIso(at)}","result":"${result}"`
}

function tickExists(key: string): HeadraceError {
  return new HeadraceError('tick_exists', `the item ${JSON.stringify(key)} has a tick already`, {
    remedy: 'use onConflict earliest, replace or keep, or cancel it first',
  })
}
