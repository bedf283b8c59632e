// The one way into a transaction of a user's own: first it is given a name, then the insert demands that name.
import { HeadraceError } from '../../errors.ts'
import type { UserTransaction } from '../../tx.ts'

export interface Insert {
  /** Gives the transaction a name until it ends. */
  naming: string
  /** Used for no other insert of this process. */
  name: string
  text: string
  /** Followed by the name. */
  values: unknown[]
}

/**
 * Inserts rows that count when the user commits. A pool, or a client that has not begun, would commit them at once; so would
 * one whose transaction ended between the two statements, since the put was not awaited. [U4]
 */
export async function insertInto(tx: UserTransaction, { naming, name, text, values }: Insert): Promise<void> {
  try {
    await tx.query({ text: naming, values: [name] })
    await tx.query({ text, values: [...values, name] })
  } catch (error) {
    throw refusalOf(error)
  }
}

/** Not in a transaction; no such table, no such schema; no right to it. */
const OUTSIDE = ['25P01']
const FORBIDDEN = ['42501']
const ELSEWHERE = ['42P01', '3F000']

function refusalOf(error: unknown): unknown {
  if (isOf(error, OUTSIDE)) {
    return new HeadraceError('invalid_options', 'tx is not in a transaction: a put would count at once', {
      cause: error,
      remedy:
        'give the client that has sent BEGIN and not yet COMMIT, or what your library hands to the function of its ' +
        'transaction; not a pool, whose every query may go to another client',
    })
  }
  if (isOf(error, ELSEWHERE)) {
    return new HeadraceError('invalid_options', 'tx is a transaction of a database without this store', {
      cause: error,
      remedy: 'give one of the same database as in the option store, and the same schema in its address',
    })
  }
  if (isOf(error, FORBIDDEN)) {
    return new HeadraceError('invalid_options', 'the role of tx lacks a right to put into this store', {
      cause: error,
      remedy:
        'grant it usage on the schema headrace, insert on its tables arrival and event_arrival, and select on its table ' +
        'generation and its sequence turn',
    })
  }
  return error
}

/** Libraries wrap the error of the driver, each in its own way. */
export function isOf(error: unknown, states: readonly string[], depth = 5): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false
  const { code, originalCode, cause, meta, driverAdapterError } = error as Record<string, unknown>
  if ([code, originalCode].some((state) => typeof state === 'string' && states.includes(state))) return true
  return [cause, meta, driverAdapterError].some((inner) => isOf(inner, states, depth - 1))
}
