// One check of every options object that a caller hands in: no name that is not known, no value of another kind. Pure.
import { type Duration, toMs } from './duration.ts'
import { HeadraceError } from './errors.ts'
import { checkMoment, describe } from './check.ts'
import { nearest } from './nearest.ts'

/** What an option holds: a kind, or the words to choose from. Null: it is checked where it is read. */
export type Kind =
  | 'text'
  | 'moment'
  | 'duration'
  | 'flag'
  | 'count'
  | 'object'
  | 'list'
  | 'function'
  | 'signal'
  | readonly string[]
  | null

export interface OptionTable {
  /** What has these options, as the subject of a sentence: `a put`. */
  readonly what: string
  readonly kinds: ReadonlyMap<string, Kind>
  /** What to do about names that callers bring from elsewhere. */
  readonly remedies: Readonly<Record<string, string>>
  /** What to do about any other name; it comes before the nearest one. */
  readonly hint: string | null
}

/** The table of an options type: the compiler refuses one that lacks an option, or has another. */
export function optionTable<Options>(
  what: string,
  kinds: { [Name in keyof Required<Options>]: Kind },
  remedies: Record<string, string> = {},
  hint: string | null = null,
): OptionTable {
  return { what, kinds: new Map(Object.entries<Kind>(kinds)), remedies, hint }
}

/** Refuses what is no object, a name that is not in the table, and a value of another kind: `invalid_options`. */
export function checkOptions(given: unknown, table: OptionTable): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw noObject(given, table)
  // Every put of the library comes through here: no list of pairs, no closure.
  for (const name of Object.keys(given)) {
    const kind = table.kinds.get(name)
    if (kind === undefined) throw unknownOption(name, table)
    if (kind !== null) checkKind((given as Record<string, unknown>)[name], kind, { name, table })
  }
}

/** A call as it is written, and how many arguments it takes. */
export interface Call {
  readonly form: string
  readonly takes: number
}

/** Refuses arguments behind the last one, which would be dropped silently: `invalid_options`. */
export function refuseSurplus(given: number, { form, takes }: Call): void {
  if (given <= takes) return
  const name = form.slice(0, form.indexOf('('))
  const where = /\btx\b/.test(form)
    ? 'tx belongs in the options'
    : 'options are one object, and the last argument'
  throw new HeadraceError('invalid_options', `${name} was given ${given} arguments, and takes ${takes}`, {
    remedy: `write ${form}: ${where}`,
  })
}

interface Named {
  name: string
  table: OptionTable
}

/** What is undefined was not given. */
function checkKind(value: unknown, kind: NonNullable<Kind>, named: Named): void {
  if (value === undefined) return
  if (kind === 'moment') checkMoment(value, named.name)
  else if (kind === 'duration') checkDuration(value, named)
  else if (typeof kind === 'string') {
    const { is, remedy } = KINDS[kind]
    if (!is(value)) throw wrongOption(value, remedy, named)
  } else if (typeof value !== 'string' || !kind.includes(value)) {
    throw wrongOption(value, suggestion(value, kind), named)
  }
}

const KINDS: Record<
  Exclude<Extract<Kind, string>, 'moment' | 'duration'>,
  { is: (value: unknown) => boolean; remedy: string }
> = {
  text: { is: (value) => typeof value === 'string', remedy: 'give a text' },
  flag: { is: (value) => typeof value === 'boolean', remedy: 'give true or false' },
  count: {
    is: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1,
    remedy: 'give a whole number from 1 on',
  },
  object: { is: (value) => typeof value === 'object' && value !== null, remedy: 'give an object' },
  list: { is: (value) => Array.isArray(value), remedy: 'give a list' },
  function: { is: (value) => typeof value === 'function', remedy: 'give a function' },
  signal: { is: (value) => value instanceof AbortSignal, remedy: 'give an AbortSignal' },
}

function checkDuration(value: unknown, named: Named): void {
  try {
    toMs(value as Duration)
  } catch (error) {
    if (!(error instanceof HeadraceError)) throw error
    throw wrongOption(value, error.remedy ?? 'give a duration', named)
  }
}

function noObject(given: unknown, { what, kinds }: OptionTable): HeadraceError {
  return new HeadraceError('invalid_options', `the options of ${what} are ${describe(given)}`, {
    remedy: `give an object with ${[...kinds.keys()].join(', ')}`,
  })
}

function wrongOption(value: unknown, remedy: string, { name, table }: Named): HeadraceError {
  return new HeadraceError('invalid_options', `${name} of ${table.what} is ${describe(value)}`, { remedy })
}

function unknownOption(name: string, { what, kinds, remedies, hint }: OptionTable): HeadraceError {
  const message = `${what} has no option ${describe(name)}`
  const remedy = Object.hasOwn(remedies, name) ? remedies[name] : undefined
  const near = suggestion(name, [...kinds.keys()])
  return new HeadraceError('invalid_options', message, {
    remedy: remedy ?? (hint === null ? near : `${hint}; or ${near}`),
  })
}

function suggestion(word: unknown, words: readonly string[]): string {
  const near = typeof word === 'string' ? nearest(word.slice(0, 64), words) : null
  return near === null ? `choose ${words.join(', ')}` : `did you mean ${near}?`
}
