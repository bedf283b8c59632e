// A tick as a caller posts it → a put. Checked by hand: this is the hottest path of the server, and the words
// for a wrong field are better than a schema's.
import { HeadraceError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { checkKey, checkMoment, checkPayload } from '../check.ts'
import { CONFLICT_RULES, type Mode, type OnConflict } from '../pool/entry.ts'
import type { Put } from '../pool/merge.ts'
import { isObject, refuse } from './json.ts'
import { type FieldError, InvalidFields } from './problem.ts'

const FIELDS = ['item', 'at', 'payload', 'onConflict']
const RULES = [...CONFLICT_RULES, 'reject']

export interface TickPut extends Put {
  at: number
  /** Asked with `onConflict: "reject"`: a tick that is kept is an error. */
  rejects: boolean
}

/** One tick of a body or a line, or `invalid_input`. */
export function readTick(value: unknown, mode: Mode): TickPut {
  if (!isObject(value)) throw refuse('a tick must be a JSON object', 'send {"item": "…", "at": "…"}')
  for (const name in value) if (!FIELDS.includes(name)) throw unknownField(name)
  const key = checkKey(value['item'], 'item')
  const rule = value['onConflict']
  if (rule !== undefined) checkRule(rule, mode)
  return {
    key,
    at: checkMoment(value['at']),
    payload: checkPayload(value['payload']),
    lane: 'normal',
    group: key,
    onConflict: rule === 'reject' ? 'keep' : ((rule as OnConflict | undefined) ?? 'earliest'),
    rejects: rule === 'reject',
  }
}

/** Every tick of a list, or one error that names all that is wrong (at most 100 of it). */
export function readTicks(values: unknown[], mode: Mode): TickPut[] {
  const ticks: TickPut[] = []
  const errors: FieldError[] = []
  for (const [index, value] of values.entries()) {
    try {
      const tick = readTick(value, mode)
      if (tick.rejects) throw refuse('onConflict "reject" works on a single tick', 'use "keep"')
      ticks.push(tick)
    } catch (error) {
      if (!(error instanceof HeadraceError)) throw error
      errors.push({ path: pathOf(index, error.message), message: error.message })
      if (errors.length === MOST_ERRORS) break
    }
  }
  if (errors.length === 0) return ticks
  throw new InvalidFields(
    `${errors.length} of ${values.length} ticks are not valid: ${first(errors)}`,
    errors,
  )
}

const MOST_ERRORS = 100

/** A message begins with its field's name; one that does not is about the whole tick. */
function pathOf(index: number, message: string): string {
  const field = FIELDS.find((name) => message.startsWith(`${name} `))
  return field === undefined ? `[${index}]` : `[${index}].${field}`
}

function first(errors: FieldError[]): string {
  return `${errors[0]?.path ?? ''}: ${errors[0]?.message ?? ''}`
}

function checkRule(rule: unknown, mode: Mode): void {
  if (mode === 'each') {
    throw refuse(
      'onConflict has no meaning here: every (item, at) is a tick of its own',
      'leave it out, or serve with --ticks-mode one',
    )
  }
  if (RULES.includes(rule as string)) return
  // Not as JSON: what is nested deep enough cannot be written again.
  const what = typeof rule === 'string' ? JSON.stringify(rule.slice(0, 64)) : `of type ${typeof rule}`
  throw refuse(`onConflict is ${what}`, `choose ${RULES.join(', ')}`)
}

function unknownField(name: string): HeadraceError {
  const near = nearest(name.slice(0, 64), FIELDS)
  return refuse(
    `a tick has no field ${JSON.stringify(name.slice(0, 64))}`,
    near === null ? `its fields are ${FIELDS.join(', ')}` : `did you mean ${near}?`,
  )
}
