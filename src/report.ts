// What goes wrong inside a race without a caller who sees it: one line each, bounded in rate, on stderr or in the user's own
// logger. Listens to telemetry only. Never writes a payload, and masks what looks like a password in an address.
import type { Clock, Timer } from './clock.ts'
import { HeadraceError } from './errors.ts'
import { maskAddressesIn } from './mask.ts'
import type { Telemetry } from './telemetry.ts'

export const LOG_LEVELS = ['silent', 'warn', 'info'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogMethod = (fields: Record<string, unknown>, message: string) => void

/** A logger of the user's own, such as one of pino. */
export interface Logger {
  debug?: LogMethod | undefined
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

export interface ReportParts {
  telemetry: Telemetry
  clock: Clock
  log: LogLevel | Logger
  /** Where lines go if there is no logger. */
  print: (line: string) => void
}

/** At most one line of each kind in this time: a flood stays readable. */
const QUIET_MS = 1000
/** The store has not answered for so long before it is reported, and how often it is reported from then on. */
const SILENT_MS = 2000
const STILL_SILENT_MS = 10_000
/** Longer texts of errors and keys are cut. */
const LONGEST_TEXT = 500
const LONGEST_READ = 4000
const LONGEST_KEY = 200

interface Line {
  kind: string
  level: 'info' | 'warn' | 'error'
  fields: Record<string, unknown>
  message: string
  /** No other line of this kind follows sooner. */
  quietMs?: number
}

type Write = (line: Line) => void

/** Reports until the returned function is called. */
export function startReport(parts: ReportParts): () => void {
  if (parts.log === 'silent') return () => undefined
  const throttle = new Throttle(parts.clock, writerOf(parts))
  const write: Write = (line) => throttle.add(line)
  const stops = [
    ...reportWork(parts.telemetry, write),
    ...reportHttp(parts.telemetry, write),
    ...reportStore(parts.telemetry, write),
    ...reportRoster(parts.telemetry, write),
    ...(parts.log === 'warn' ? [] : reportNews(parts.telemetry, write)),
    ...(typeof parts.log === 'string' ? [] : passOn(parts.telemetry, writerOf(parts))),
  ]
  return () => {
    for (const stop of stops) stop()
    throttle.close()
  }
}

function reportWork(telemetry: Telemetry, write: Write): (() => void)[] {
  return [
    telemetry.on('run.failed', ({ pool, key, attempt, error, isDead, reason: given, retryInMs }) => {
      const answered = given === null ? 'its handler answered so' : cut(inOneLine(given), LONGEST_TEXT)
      const reason = error === null ? answered : textOf(error)
      const next = retryInMs === null ? 'given up' : `next try in ${seconds(retryInMs)}`
      const outlook = isDead ? `dead, see: headrace pool dead ${inOneLine(pool)}` : next
      const fields = { pool, key: cut(key, LONGEST_KEY), attempt, retryInMs, isDead, error: reason }
      const message = `${run({ pool, key })} failed at attempt ${attempt}: ${reason}; ${outlook}`
      write({ kind: isDead ? 'run.dead' : 'run.failed', level: isDead ? 'error' : 'warn', fields, message })
    }),
    telemetry.on('run.unsettled', ({ pool, key, outcome, error, isDead }) => {
      const outlook = isDead ? 'it is dead instead' : 'it rests and is tried again'
      const fields = { pool, key: cut(key, LONGEST_KEY), outcome, isDead, error: textOf(error) }
      const message = `the store refuses to write that ${run({ pool, key })} ended: ${textOf(error)}; ${outlook}`
      write({ kind: 'run.unsettled', level: 'error', fields, message })
    }),
    telemetry.on('run.ignored', ({ pool, key, why }) => {
      const message = `the handler of ${run({ pool, key })} ignores its signal (${why}), and is left behind`
      write({
        kind: 'run.ignored',
        level: 'warn',
        fields: { pool, key: cut(key, LONGEST_KEY), why },
        message,
      })
    }),
    telemetry.on('work.failed', ({ pool, error, retryInMs }) => {
      const outlook = retryInMs === null ? 'it stands still until a restart' : 'trying again'
      const message = `work on the pool ${inOneLine(pool)} waits: ${textOf(error)}; ${outlook}`
      write({
        kind: 'work.failed',
        level: 'warn',
        fields: { pool, retryInMs, error: textOf(error) },
        message,
      })
    }),
    telemetry.on('ticks.failed', ({ pool, error, retryInMs }) => {
      const outlook = retryInMs === null ? 'they do not move before a restart' : 'trying again'
      const message = `due ticks of the pool ${inOneLine(pool)} wait: ${textOf(error)}; ${outlook}`
      write({
        kind: 'ticks.failed',
        level: 'warn',
        fields: { pool, retryInMs, error: textOf(error) },
        message,
      })
    }),
    telemetry.on('arrivals.refused', ({ resource, arrivals, key }) => {
      const what = `${arrivals} that arrived for ${inOneLine(resource)}, such as ${JSON.stringify(cut(key, LONGEST_KEY))}`
      const message = `refused ${what}: the payload is no JSON or too large; write arrivals with put(…, { tx }) or append(…, { tx })`
      const fields = { resource, arrivals, key: cut(key, LONGEST_KEY) }
      write({ kind: 'arrivals.refused', level: 'error', fields, message })
    }),
    telemetry.on('pool.payload-replaced', ({ pool, key }) => {
      const what = `a put of the key ${JSON.stringify(cut(key, LONGEST_KEY))} in the pool ${inOneLine(pool)} replaced the payload of another that waited`
      const message = `${what}: puts of one key are one run; for a run each use pool.add(payload), or payloads: 'all'`
      write({
        kind: 'pool.payload-replaced',
        level: 'warn',
        fields: { pool, key: cut(key, LONGEST_KEY) },
        message,
      })
    }),
  ]
}

function reportHttp(telemetry: Telemetry, write: Write): (() => void)[] {
  return [
    telemetry.on('http.unauthorized', ({ why, from }) => {
      const message = `refused a request from ${from ?? 'an unknown address'}: its token is ${why}`
      write({ kind: 'http.unauthorized', level: 'warn', fields: { why, from }, message })
    }),
    telemetry.on('http.unserved', ({ route, method, error }) => {
      const message = `${method} ${route} was not served: ${textOf(error)}`
      write({
        kind: 'http.unserved',
        level: 'warn',
        fields: { route, method, error: textOf(error) },
        message,
      })
    }),
    telemetry.on('http.failed', ({ route, method, error }) => {
      const message = `${method} ${route} met a defect of Headrace: ${stackOf(error)}`
      write({ kind: 'http.failed', level: 'error', fields: { route, method, error: textOf(error) }, message })
    }),
  ]
}

function reportStore(telemetry: Telemetry, write: Write): (() => void)[] {
  let isReported = false
  return [
    telemetry.on('store.silent', ({ forMs, error }) => {
      if (forMs < SILENT_MS) return
      isReported = true
      const message = `the store has not answered for ${seconds(forMs)}: ${textOf(error)}; trying again`
      const fields = { forMs: Math.round(forMs), error: textOf(error) }
      write({ kind: 'store.silent', level: 'error', fields, message, quietMs: STILL_SILENT_MS })
    }),
    telemetry.on('store.answered', ({ afterMs }) => {
      if (!isReported) return
      isReported = false
      const message = `the store answers again, after ${seconds(afterMs)}`
      write({ kind: 'store.answered', level: 'warn', fields: { afterMs: Math.round(afterMs) }, message })
    }),
    telemetry.on('store.failed', ({ error }) => {
      const message = `work of the store in the background failed: ${textOf(error)}; trying again`
      write({ kind: 'store.failed', level: 'warn', fields: { error: textOf(error) }, message })
    }),
    telemetry.on('store.went-back', ({ from, to }) => {
      const message =
        'the store went back to an earlier state: what was answered since then is gone, and this member drops its runs and joins again'
      write({ kind: 'store.went-back', level: 'error', fields: { from, to }, message })
    }),
    telemetry.on('store.lost', ({ error }) => {
      const message = `this process can use its store no more: ${textOf(error)}; restart it`
      write({ kind: 'store.lost', level: 'error', fields: { error: textOf(error) }, message })
    }),
  ]
}

function reportRoster(telemetry: Telemetry, write: Write): (() => void)[] {
  return [
    telemetry.on('roster.doubted', () => {
      const message =
        'the roster has not answered for so long that this member may have been replaced: it starts nothing until it answers'
      write({ kind: 'roster.doubted', level: 'warn', fields: {}, message })
    }),
    telemetry.on('roster.trusted', () => {
      const message = 'the roster answers again, and this member has kept its work'
      write({ kind: 'roster.trusted', level: 'warn', fields: {}, message })
    }),
    telemetry.on('roster.lost', ({ id }) => {
      const why = 'it was silent for a lease: did this process or its machine stand still, or the store?'
      const message = `the others have taken the work of this member (${id}), and it joins again; ${why}`
      write({ kind: 'roster.lost', level: 'error', fields: { id }, message })
    }),
    telemetry.on('roster.failed', ({ error }) => {
      const message = `a step in the roster failed: ${textOf(error)}; trying again`
      write({ kind: 'roster.failed', level: 'warn', fields: { error: textOf(error) }, message })
    }),
    telemetry.on('signals.missing', ({ pools }) => {
      const message =
        `nothing listens to SIGTERM: it would end this process without a stop, its runs (of ${pools.map(inOneLine).join(', ')}) ` +
        'would count as crashed, and after three crashes a run is dead; pass signals: true to headrace(), or signals: false ' +
        'if another part of the program calls race.stop()'
      write({ kind: 'signals.missing', level: 'warn', fields: { pools }, message })
    }),
    telemetry.on('listener.failed', ({ error }) => {
      const message = `a listener threw: ${textOf(error)}`
      write({ kind: 'listener.failed', level: 'warn', fields: { error: textOf(error) }, message })
    }),
  ]
}

/** What is no trouble, at the level `info`. */
function reportNews(telemetry: Telemetry, write: Write): (() => void)[] {
  const news = (kind: string, fields: Record<string, unknown>, message: string): void =>
    write({ kind, level: 'info', fields, message })
  return [
    telemetry.on('roster.joined', ({ id }) => news('roster.joined', { id }, `joined the roster as ${id}`)),
    telemetry.on('roster.left', ({ id }) => news('roster.left', { id }, `left the roster as ${id}`)),
    telemetry.on('roster.leading', ({ term }) => {
      const message = term === null ? 'leads the roster no more' : `leads the roster, in term ${term}`
      news('roster.leading', { term }, message)
    }),
    telemetry.on('store.migrated', ({ from, to }) => {
      if (from !== to) news('store.migrated', { from, to }, `the store went from version ${from} to ${to}`)
    }),
    telemetry.on('pool.paused', ({ pool }) => {
      news('pool.paused', { pool }, `the pool ${inOneLine(pool)} is paused`)
    }),
    telemetry.on('pool.resumed', ({ pool }) => {
      news('pool.resumed', { pool }, `the pool ${inOneLine(pool)} is resumed`)
    }),
  ]
}

/** What handlers write with `ctx.log` belongs into the user's own logger, if there is one. Every line: it is their own. */
function passOn(telemetry: Telemetry, write: Write): (() => void)[] {
  return [
    telemetry.on('run.logged', ({ pool, key, attempt, message, details }) => {
      write({ kind: 'run.logged', level: 'info', fields: { pool, key, attempt, details }, message })
    }),
  ]
}

/** One line of each kind at a time. The last of those held back is written when the time is over, with their number. */
class Throttle {
  readonly #clock: Clock
  readonly #write: Write
  /** Bounded by the number of kinds. */
  readonly #quiet = new Map<string, { timer: Timer; held: Line | null; more: number }>()

  constructor(clock: Clock, write: Write) {
    this.#clock = clock
    this.#write = write
  }

  add(line: Line): void {
    const quiet = this.#quiet.get(line.kind)
    if (quiet === undefined) {
      this.#begin(line)
      return
    }
    if (quiet.held !== null) quiet.more += 1
    quiet.held = line
  }

  close(): void {
    for (const { timer, held, more } of this.#quiet.values()) {
      timer.cancel()
      if (held !== null) this.#write(withCount(held, more))
    }
    this.#quiet.clear()
  }

  #begin(line: Line): void {
    const end = (): void => {
      const { held, more } = this.#quiet.get(line.kind) ?? { held: null, more: 0 }
      this.#quiet.delete(line.kind)
      if (held !== null) this.#begin(withCount(held, more))
    }
    const timer = this.#clock.timer(line.quietMs ?? QUIET_MS, end, { background: true })
    this.#quiet.set(line.kind, { timer, held: null, more: 0 })
    this.#write(line)
  }
}

function withCount(line: Line, more: number): Line {
  if (more === 0) return line
  const fields = { ...line.fields, suppressed: more }
  return { ...line, fields, message: `${line.message} (and ${more} more like it)` }
}

/** A logger that throws harms nothing: it is called in the middle of the work. */
function writerOf({ telemetry, log, print }: ReportParts): Write {
  return ({ kind, level, fields, message }) => {
    try {
      if (typeof log === 'string') print(message)
      else log[level]({ event: kind, member: telemetry.member, ...fields }, message)
    } catch {
      // There is nowhere left to report it.
    }
  }
}

function run({ pool, key }: { pool: string; key: string }): string {
  return `the run of ${JSON.stringify(cut(key, LONGEST_KEY))} in the pool ${inOneLine(pool)}`
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** An error, what caused it, and its remedy, in one line. Without the stack: many of these come while a store is away. */
function textOf(error: unknown): string {
  const remedy = error instanceof HeadraceError && error.remedy !== null ? ` (${error.remedy})` : ''
  return cut(inOneLine(maskAddressesIn(`${chainOf(error)}${remedy}`)), LONGEST_TEXT)
}

/** At most three causes: `fetch failed` alone does not say that nobody listens. */
function chainOf(error: unknown): string {
  const texts: string[] = []
  for (let each = error; each !== undefined && texts.length < 4;) {
    const text = nameOf(each)
    if (!texts.some((known) => known.includes(text))) texts.push(text)
    each = each instanceof Error ? each.cause : undefined
  }
  return texts.join(': ')
}

/** A handler may throw anything, also what cannot be written. */
function nameOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return cut(String(thrown), LONGEST_READ)
    const { name, message, code } = thrown as NodeJS.ErrnoException
    // A connection that was refused at several addresses has a code and no message.
    const text = message === '' ? (code ?? 'no message') : message
    const isPlain = name === 'Error' || thrown instanceof HeadraceError
    return cut(isPlain ? text : `${name}: ${text}`, LONGEST_READ)
  } catch {
    return `something of type ${typeof thrown} that cannot be written`
  }
}

/** Of a defect the place matters most. */
function stackOf(error: unknown): string {
  if (error instanceof HeadraceError || !(error instanceof Error)) return textOf(error)
  return maskAddressesIn(cut(error.stack ?? error.message, LONGEST_READ))
}

function inOneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
