// What a pool accepts. Pure; the library and the server refuse bad input with the same words.
import { FIRST_MOMENT, LAST_MOMENT, parseTime } from './clock.ts'
import { HeadraceError } from './errors.ts'
import { nearest } from './nearest.ts'

export const LONGEST_KEY_BYTES = 512
export const LARGEST_PAYLOAD_BYTES = 1024 * 1024
export const DEEPEST_PAYLOAD = 32

/** A moment as a caller may write it: RFC 3339 text, milliseconds since 1970, or a Date. */
export type Moment = string | number | Date

const A_TEXT = 'give a text, such as "user-17"'

/** The key, or `invalid_input`. Ill-formed text and NUL are refused: stores would merge or cut such keys. */
export function checkKey(key: unknown, name = 'key'): string {
  if (key === undefined) throw refuse(`${name} is missing`, A_TEXT)
  if (typeof key !== 'string') throw refuse(`${name} must be a text, not ${kindOf(key)}`, A_TEXT)
  if (key === '') throw refuse(`${name} is empty`, `give one of 1 to ${LONGEST_KEY_BYTES} bytes`)
  const bytes = key.length > LONGEST_KEY_BYTES ? key.length : Buffer.byteLength(key)
  if (bytes > LONGEST_KEY_BYTES) {
    throw refuse(
      `${name} has ${bytes} bytes, the limit is ${LONGEST_KEY_BYTES}`,
      `shorten it, or use a hash of it and carry the whole in the payload`,
    )
  }
  if (!key.isWellFormed()) throw refuse(`${name} holds half of a surrogate pair`, 'send well-formed Unicode')
  if (key.includes('\0')) throw refuse(`${name} holds a NUL character`, 'remove it')
  return key
}

/** Numbers of seconds from the year 1973 on. As milliseconds they are long past, and what is put for then runs at once. */
const LIKE_SECONDS = { from: 1e8, below: 1e11 }

/** Milliseconds of a moment that a caller names, or `invalid_input`. The far past is accepted: it is due now. */
export function checkMoment(at: unknown, name = 'at'): number {
  if (typeof at === 'number' && at >= LIKE_SECONDS.from && at < LIKE_SECONDS.below) {
    throw refuse(
      `${name} is ${at}, which looks like seconds`,
      `${name} is in milliseconds since 1970, or a Date: multiply seconds by 1000`,
    )
  }
  return checkInstant(at, name)
}

/** Milliseconds of a moment that Headrace wrote, such as in a cursor, or `invalid_input`. */
export function checkInstant(at: unknown, name = 'at'): number {
  const ms = momentOf(at)
  if (ms !== null && Number.isSafeInteger(ms) && ms >= FIRST_MOMENT && ms <= LAST_MOMENT) return ms
  const what =
    at === undefined ? 'missing' : `${describe(at)}, which is no moment up to the end of the year 9999`
  throw refuse(
    `${name} is ${what}`,
    `write RFC 3339 with a zone, such as "2027-02-28T14:16:00Z", or whole milliseconds since 1970`,
  )
}

function momentOf(at: unknown): number | null {
  if (typeof at === 'string') return parseTime(at)
  if (typeof at === 'number') return at
  return at instanceof Date ? at.getTime() : null
}

/** The payload as JSON text; undefined stays undefined. Refuses what is too large, too deep or no JSON. */
export function checkPayload(payload: unknown, name = 'payload'): string | undefined {
  if (payload === undefined) return undefined
  checkInside(payload, name, DEEPEST_PAYLOAD)
  const text = toJson(payload, name)
  const bytes = Buffer.byteLength(text)
  if (bytes > LARGEST_PAYLOAD_BYTES) {
    throw refuse(
      `${name} has ${bytes} bytes, the limit is ${LARGEST_PAYLOAD_BYTES}`,
      'store it elsewhere and carry a reference',
    )
  }
  return text
}

function toJson(payload: unknown, name: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (cause) {
    throw new HeadraceError('invalid_input', `${name} cannot be written as JSON`, {
      cause,
      remedy: 'send plain data',
    })
  }
  if (text === undefined)
    throw refuse(`${name} is ${kindOf(payload)}, which JSON cannot hold`, 'send plain data')
  return text
}

/** Refuses what is nested too deep to be written again, and numbers that JSON would write as null. */
function checkInside(value: unknown, name: string, levels: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw refuse(`${name} holds the number ${value}, which JSON cannot hold`, 'send it as a text')
  }
  if (typeof value !== 'object' || value === null) return
  if (levels === 0) {
    throw refuse(
      `${name} is nested deeper than ${DEEPEST_PAYLOAD} levels`,
      'flatten it, or send it as a text',
    )
  }
  for (const inner of Object.values(value)) checkInside(inner, name, levels - 1)
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i

/** The name of a pool or topic, or `invalid_options`. */
export function checkName(name: string, what: string): string {
  // Types do not hold callers from JavaScript: the pattern would read undefined as a name.
  if (typeof name === 'string' && NAME.test(name)) return name
  throw new HeadraceError('invalid_options', `the ${what} name ${describe(name)} is not allowed`, {
    remedy: 'use 1 to 63 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
  })
}

export const MOST_PARTITIONS = 1024

/** A number of partitions, or `invalid_options`. */
export function checkPartitions(partitions: number, what: string): number {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= MOST_PARTITIONS) return partitions
  throw new HeadraceError('invalid_options', `${what} asks for ${partitions} partitions`, {
    remedy: `choose a whole number from 1 to ${MOST_PARTITIONS}`,
  })
}

/** One of some words, or an error that suggests the nearest: types do not hold callers from JavaScript. */
export function checkChoice<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
  { name, code }: { name: string; code: 'invalid_input' | 'invalid_options' },
): Choice {
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  const near = typeof value === 'string' ? nearest(value, choices) : null
  const remedy = near === null ? `choose ${choices.join(', ')}` : `did you mean ${near}?`
  throw new HeadraceError(code, `${name} is ${describe(value)}`, { remedy })
}

/** Yes or no, or `invalid_options`. */
export function checkFlag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  throw new HeadraceError('invalid_options', `${name} is ${describe(value)}`, {
    remedy: 'give true or false',
  })
}

function refuse(message: string, remedy: string): HeadraceError {
  return new HeadraceError('invalid_input', message, { remedy })
}

/** A value in the words of an error, no longer than fits there. */
export function describe(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (value instanceof Date) return 'an invalid date'
  if (typeof value !== 'string') return kindOf(value)
  return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value)
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
