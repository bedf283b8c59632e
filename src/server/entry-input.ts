// An entry as a caller puts it → a put.
import { checkChoice, checkKey, checkMoment, checkPayload } from '../check.ts'
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { type Duration, toMs } from '../duration.ts'
import { nearest } from '../nearest.ts'
import { CONFLICT_RULES, LANES, type Mode, type OnConflict } from '../pool/entry.ts'
import { longestWaitOf } from '../pool/longest-wait.ts'
import type { Put, PutAnswer } from '../pool/merge.ts'
import { isObject, refuse } from './json.ts'
import { type FieldError, InvalidFields } from './problem.ts'

const FIELDS = ['key', 'at', 'in', 'payload', 'lane', 'group', 'onConflict', 'longestWait']
const MOST_ERRORS = 100

/** One put of a body or a line, or `invalid_input`. In mode `each` it names its time, which is its slot. */
export function readPut(value: unknown, mode: Mode): Put {
  if (!isObject(value)) throw refuse('an entry must be a JSON object', 'send {"key": "…"}')
  for (const name of Object.keys(value)) if (!FIELDS.includes(name)) throw unknownField(name)
  const key = checkKey(value['key'])
  const { at, lane, group } = value
  const rule = { name: 'onConflict', code: 'invalid_input' } as const
  const onConflict = checkChoice(value['onConflict'] ?? 'earliest', CONFLICT_RULES, rule)
  const inMs = readIn(value['in'], at)
  if (at === undefined && inMs === undefined && mode === 'each') {
    throw refuse(
      'at is missing: every (key, at) of this pool is an entry of its own',
      'say when, as "at" or "in"; on the command line with --at or --in',
    )
  }
  return {
    key,
    at: at === undefined ? null : checkMoment(at),
    ...(inMs === undefined ? {} : { inMs }),
    payload: checkPayload(value['payload']),
    lane: lane === undefined ? null : checkChoice(lane, LANES, { name: 'lane', code: 'invalid_input' }),
    group: group === undefined ? key : checkKey(group, 'group'),
    onConflict,
    ...readLongestWait(value['longestWait'], onConflict, mode),
  }
}

function readIn(value: unknown, at: unknown): number | undefined {
  if (value === undefined) return undefined
  if (at !== undefined) throw refuse('in stands beside at', 'send one of them')
  if (typeof value !== 'string' && typeof value !== 'number')
    throw refuse('in is no string or number', 'send a text such as "10m", or milliseconds')
  return toMs(value, 'invalid_input')
}

function readLongestWait(value: unknown, onConflict: OnConflict, mode: Mode): Pick<Put, 'longestWaitMs'> {
  if (value === undefined) return {}
  if (typeof value !== 'string' && typeof value !== 'number')
    throw refuse('longestWait is no string or number', 'send a text such as "10m", or milliseconds')
  return longestWaitOf({ longestWait: value as Duration, onConflict }, { mode })
}

/** Every put of a list, or one error that names all that is wrong (at most 100 of it). */
export function readPuts(values: readonly unknown[], mode: Mode): Put[] {
  const puts: Put[] = []
  const errors: FieldError[] = []
  for (const [index, value] of values.entries()) {
    try {
      puts.push(readPut(value, mode))
    } catch (error) {
      if (!(error instanceof HeadraceError)) throw error
      errors.push({ path: pathOf(index, error.message), message: error.message })
      if (errors.length === MOST_ERRORS) break
    }
  }
  const [first] = errors
  if (first === undefined) return puts
  const what = `${errors.length} of ${values.length} entries are not valid: ${first.path}: ${first.message}`
  throw new InvalidFields(what, errors)
}

/** A message begins with its field's name; one that does not is about the whole entry. */
function pathOf(index: number, message: string): string {
  const field = FIELDS.find((name) => message.startsWith(`${name} `))
  return field === undefined ? `[${index}]` : `[${index}].${field}`
}

function unknownField(name: string): HeadraceError {
  const near = nearest(name.slice(0, 64), FIELDS)
  return refuse(
    `an entry has no field ${JSON.stringify(name.slice(0, 64))}`,
    near === null ? `its fields are ${FIELDS.join(', ')}` : `did you mean ${near}?`,
  )
}

/** The members of the answer, without the braces. */
export function writePutResult({ key, at }: Put, { result, dueAt, tally }: PutAnswer, mode: Mode): string {
  // A slot that was named by a time after now is when the entry is due.
  const slot = mode === 'each' ? `"${toIso(at ?? dueAt)}"` : 'null'
  const run = `"dueAt":"${toIso(dueAt)}","tally":${tally}`
  return `"key":${JSON.stringify(key)},"at":${slot},${run},"result":"${result}"`
}
