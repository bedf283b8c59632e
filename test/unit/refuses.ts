// Tables of calls that must be refused, made as JavaScript makes them.
import assert from 'node:assert/strict'
import { HeadraceError } from '../../src/errors.ts'
import { type Headrace, headrace } from '../../src/headrace.ts'

/** A call as JavaScript makes it, without types; what it must say, and suggest. */
export interface Refused {
  call(race: Headrace): unknown
  says: string
  suggests: RegExp
}

/** Types do not hold callers from JavaScript. */
export const wrong = (options: unknown): never => options as never

async function refusalOf(call: () => unknown): Promise<HeadraceError> {
  try {
    await call()
  } catch (error) {
    assert.ok(error instanceof HeadraceError, String(error))
    return error
  }
  return assert.fail('it was not refused')
}

export async function refuses(table: Refused[]): Promise<void> {
  await using race = await headrace({ store: 'memory:' })
  for (const { call, says, suggests } of table) {
    const error = await refusalOf(() => call(race))
    assert.equal(error.message, says)
    assert.equal(error.code, 'invalid_options')
    assert.match(error.remedy ?? '', suggests, says)
  }
}
