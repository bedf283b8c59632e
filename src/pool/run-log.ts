// What handlers tell of their runs: to whoever listens to telemetry, and on stderr while nobody does.
import { messageOf } from '../errors.ts'
import type { Telemetry } from '../telemetry.ts'
import type { TakenRun } from './entry.ts'

/** Tells something of a run, with whatever explains it. */
export type Log = (message: string, details?: unknown) => void

export interface LogParts {
  pool: string
  telemetry: Telemetry
}

export function logOf({ pool, telemetry }: LogParts, { key, attempt }: TakenRun): Log {
  return (message, details) => {
    if (telemetry.hears('run.logged')) {
      telemetry.emit('run.logged', { pool, key, attempt: attempt + 1, message, details })
    } else {
      const more = details === undefined ? '' : ` ${written(details)}`
      const told = `${pool} ${JSON.stringify(key)}, attempt ${attempt + 1}: ${message}${more}`
      process.stderr.write(`headrace: ${told.replaceAll(/\s*\n\s*/g, ' ')}\n`)
    }
  }
}

/** Whatever it is: a line that cannot be written must not be a failure of the run. */
function written(details: unknown): string {
  if (details instanceof Error) return messageOf(details)
  try {
    return JSON.stringify(details) ?? typeof details
  } catch (error) {
    return `(${messageOf(error)})`
  }
}
