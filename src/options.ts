// One schema of every option: type, default, unit, environment name, flag and doc line. Validation, the
// command line's flags and docs/reference/options.md all come from it.
import { type Duration, toMs } from './duration.ts'
import { HeadraceError } from './errors.ts'
import { describe } from './check.ts'
import { checkOptions } from './check-options.ts'
import { maskAddress } from './mask.ts'
import { LOG_LEVELS, type LogLevel, type Logger } from './report.ts'

/** A value as it was given. */
type Given = string | number | boolean | Logger

interface OptionShape {
  kind: 'text' | 'token' | 'url' | 'integer' | 'duration' | 'choice' | 'boolean' | 'log'
  default: string | number | null
  doc: string
  /** Masked wherever options are printed, and given on the command line as a file, never as a value. */
  secret?: true
  /** For programs that use the library: neither a flag of `serve` nor a variable. */
  library?: true
  min?: number
  max?: number
  choices?: readonly string[]
  /** What the flag means without a value. */
  bare?: string
}

/** What a token needs to withstand guessing. */
const SHORTEST_TOKEN = 16

export const OPTIONS = {
  store: {
    kind: 'text',
    default: 'sqlite:./.headrace/headrace.db',
    doc: 'where everything is kept: sqlite:PATH, postgres://USER@HOST/DATABASE or memory:',
  },
  host: { kind: 'text', default: '127.0.0.1', doc: 'address to listen on; off loopback a token is required' },
  port: { kind: 'integer', default: 7400, min: 0, max: 65535, doc: 'port to listen on; 0 takes a free one' },
  token: {
    kind: 'token',
    default: null,
    secret: true,
    doc: `bearer token that requests must carry, at least ${SHORTEST_TOKEN} characters`,
  },
  behindProxy: {
    kind: 'choice',
    choices: ['no', 'yes'],
    default: 'no',
    bare: 'yes',
    doc: 'whether a proxy passes on requests of others; then a token is required on loopback, too',
  },
  partitions: {
    kind: 'integer',
    default: 32,
    min: 1,
    max: 1024,
    doc: 'partitions of pools and topics that name no number of their own; fixed at first use',
  },
  retention: {
    kind: 'duration',
    default: null,
    doc: 'how long topics keep their events; unless given, as the store says: at first 7d',
  },
  ticksMode: {
    kind: 'choice',
    default: 'each',
    choices: ['each', 'one'],
    doc: 'each: every (item, at) fires; one: an item has one pending tick',
  },
  ticksRemember: {
    kind: 'duration',
    default: null,
    doc: 'how long fired ticks are remembered against repeats; unless given, as the store says: at first not at all',
  },
  join: {
    kind: 'choice',
    default: 'yes',
    choices: ['yes', 'no'],
    doc: 'yes: takes its share of the work; no: only takes requests, and leaves the work to others',
  },
  lease: {
    kind: 'duration',
    default: '3s',
    min: 100,
    doc: 'how long a member may be silent before its work goes to others; the same for all members',
  },
  weight: {
    kind: 'integer',
    default: 1,
    min: 1,
    max: 1000,
    doc: 'share of the work, next to the weights of other members',
  },
  name: {
    kind: 'text',
    default: null,
    doc: 'name of this member, for people; unless given, host and process',
  },
  address: {
    kind: 'url',
    default: null,
    doc: 'where other members and people reach the API of this one: http://HOST:PORT, or https',
  },
  drainWithin: { kind: 'duration', default: '30s', doc: 'how long a stop waits for work under way' },
  signals: {
    kind: 'boolean',
    default: null,
    library: true,
    doc: 'true: SIGTERM and SIGINT stop it, and a second one ends the process at once; false: the program calls `stop()` itself; default false, with a warning if workers run and nothing listens to SIGTERM',
  },
  log: {
    kind: 'log',
    default: 'warn',
    choices: LOG_LEVELS,
    doc: 'what is written to stderr: nothing, what goes wrong, or also what changes; in the library also a logger such as one of pino',
  },
} as const satisfies Record<string, OptionShape>

export type OptionName = keyof typeof OPTIONS

type ValueOf<Shape extends OptionShape> =
  | (Shape['kind'] extends 'integer' | 'duration'
      ? number
      : Shape['kind'] extends 'boolean'
        ? boolean
        : Shape['kind'] extends 'log'
          ? LogLevel | Logger
          : Shape extends { choices: readonly (infer Choice)[] }
            ? Choice
            : string)
  | (Shape['default'] extends null ? null : never)

type InputOf<Shape extends OptionShape> = Shape['kind'] extends 'duration'
  ? Duration
  : NonNullable<ValueOf<Shape>>

/** Every option, checked and with its default; durations in milliseconds. */
export type Options = { [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> }

/** Options as a caller writes them. */
export type OptionsInput = { [Name in OptionName]?: InputOf<(typeof OPTIONS)[Name]> | undefined }

/** Values are checked one by one, since some come from the environment. */
const TABLE = {
  what: 'headrace',
  kinds: new Map(Object.keys(OPTIONS).map((name) => [name, null])),
  remedies: Object.fromEntries(
    ['url', 'connection', 'connectionString', 'database'].map((name) => [name, 'did you mean store?']),
  ),
  hint: null,
}

/** `ticksMode` → `HEADRACE_TICKS_MODE`. */
export function envName(name: OptionName): string {
  return `HEADRACE_${kebab(name).replaceAll('-', '_').toUpperCase()}`
}

/** `ticksMode` → `--ticks-mode`; of a secret the file that holds it: `token` → `--token-file`. */
export function flagName(name: OptionName): string {
  return `--${kebab(name)}${isSecret(name) ? '-file' : ''}`
}

/** Other users of a machine can read the arguments of a process, so a secret is never one of them. */
export function isSecret(name: OptionName): boolean {
  return 'secret' in OPTIONS[name]
}

/** Whether only programs that use the library can give it. */
export function isForLibrary(name: OptionName): boolean {
  return 'library' in OPTIONS[name]
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Options as given ones: what is null was not given. */
export function asGiven(options: {
  [Name in OptionName]?: Options[Name] | OptionsInput[Name]
}): OptionsInput {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => (value ?? null) !== null))
}

/** What was given, else the environment, else the default; field by field. */
export function resolveOptions(given: OptionsInput, env: Record<string, string | undefined> = {}): Options {
  checkOptions(given, TABLE)
  const resolved: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(OPTIONS) as [OptionName, OptionShape][]) {
    // A secret often comes from a file, whose last newline is not a part of it.
    // One that is blank was meant to be something.
    const text = isForLibrary(name) ? undefined : env[envName(name)]
    const fromEnv = isSecret(name) && text !== undefined && text !== '' ? blankless(text) : text
    const value = given[name] ?? (fromEnv === '' ? undefined : fromEnv) ?? shape.default
    resolved[name] = value === null ? null : check(name, shape, value)
  }
  return resolved as Options
}

function blankless(secret: string): string {
  return secret.trim() === '' ? ' ' : secret.trim()
}

/** Whether a header can carry the token, and nobody guesses it. */
export function isToken(token: string): boolean {
  return token.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(token)
}

/** The token, or `invalid_options` that says neither it nor its length. */
export function checkToken(token: string, from: string): string {
  if (isToken(token)) return token
  const what = token.trim() === '' ? 'blank' : 'too short, or holds more than visible ASCII characters'
  throw new HeadraceError('invalid_options', `the ${from} is ${what}`, {
    remedy: `give at least ${SHORTEST_TOKEN} visible ASCII characters: make one with \`openssl rand -hex 32\``,
  })
}

function check(name: OptionName, shape: OptionShape, value: Given): Given {
  if (typeof value === 'object') return checkLogger(name, shape, value)
  if (shape.kind === 'boolean' || typeof value === 'boolean') return checkBoolean(name, shape, value)
  switch (shape.kind) {
    case 'duration':
      return checkDuration(name, shape, value)
    case 'integer':
      return checkInteger(name, shape, value)
    case 'choice':
    case 'log':
      if (shape.choices?.includes(String(value)) === true) return String(value)
      throw badOption(name, shape, value, `choose ${shape.choices?.join(' or ') ?? ''}`)
    case 'text':
      if (String(value) !== '') return String(value)
      throw badOption(name, shape, value, 'give a text')
    case 'token':
      return checkToken(String(value), `option ${name} (${flagName(name)}, ${envName(name)})`)
    case 'url':
      if (isUrl(String(value))) return String(value)
      throw badOption(
        name,
        shape,
        value,
        'give an http or https URL without user, query and fragment, such as http://worker-1:7400',
      )
  }
}

function checkBoolean(name: OptionName, shape: OptionShape, value: Given): boolean {
  if (shape.kind === 'boolean' && typeof value === 'boolean') return value
  throw badOption(name, shape, value, shape.kind === 'boolean' ? 'give true or false' : expected(shape))
}

/** What an option takes, for a value that is of another kind altogether. */
function expected({ kind, choices }: OptionShape): string {
  if (choices !== undefined) return `choose ${choices.join(' or ')}`
  return kind === 'integer' ? 'give a whole number' : `give a ${kind}`
}

/** Only the option `log` takes an object. */
function checkLogger(name: OptionName, shape: OptionShape, value: Logger): Logger {
  const methods = ['info', 'warn', 'error'] as const
  if (shape.kind !== 'log') throw badOption(name, shape, value, expected(shape))
  if (methods.every((method) => typeof value[method] === 'function')) return value
  const remedy = `choose ${LOG_LEVELS.join(' or ')}, or give a logger with the methods info, warn and error`
  throw badOption(name, shape, value, remedy)
}

/** One that a path can be appended to, and that fetch accepts. */
function isUrl(text: string): boolean {
  return /^https?:\/\/[^\s?#@]+$/i.test(text) && URL.canParse(text)
}

function checkDuration(name: OptionName, shape: OptionShape, value: string | number): number {
  const ms = readDuration(name, shape, value)
  const { min = 0 } = shape
  if (ms >= min) return ms
  throw badOption(name, shape, value, `give at least ${min} ms`)
}

function readDuration(name: OptionName, shape: OptionShape, value: string | number): number {
  try {
    return toMs(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)
  } catch (error) {
    if (!(error instanceof HeadraceError)) throw error
    throw badOption(name, shape, value, error.remedy ?? error.message)
  }
}

function checkInteger(name: OptionName, shape: OptionShape, value: string | number): number {
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = shape
  if (Number.isInteger(number) && number >= min && number <= max) return number
  throw badOption(name, shape, value, `give a whole number from ${min} to ${max}`)
}

function badOption(name: OptionName, shape: OptionShape, value: unknown, remedy: string): HeadraceError {
  const shown = shape.secret === true ? '(masked)' : shownValue(shape, value)
  const others = shape.library === true ? '' : ` (${flagName(name)}, ${envName(name)})`
  const message = `the option ${name}${others} is ${shown}`
  return new HeadraceError('invalid_options', message, { remedy })
}

/** An object may hold an address with a password: of what is no text or number its kind is enough. */
function shownValue({ kind }: OptionShape, value: unknown): string {
  if (typeof value !== 'string') return typeof value === 'boolean' ? String(value) : describe(value)
  return JSON.stringify(kind === 'url' ? maskAddress(value) : value)
}
