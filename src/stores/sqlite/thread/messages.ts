// What passes between a store's thread and the thread that uses it: calls of its ports, their answers, hints, telemetry.
// Everything is copied on the way, so that errors, which a copy would make plain ones, travel as what they are made of.
import { type ErrorCode, HeadraceError } from '../../../errors.ts'
import type { FenceStore } from '../../../fence.ts'
import type { LogStore } from '../../../log/store.ts'
import type { Browse, ControlStore, DeadStore, Entries, ProgressStore } from '../../../pool/store.ts'
import type { LockStore, RosterStore } from '../../../roster/store.ts'
import type { Hint, Mover, Store } from '../../../store.ts'
import type { TelemetryName } from '../../../telemetry.ts'

/** Every port of the store, by the name that a call gives it. */
export interface Ports {
  entries: Entries
  browse: Browse
  dead: DeadStore
  progress: ProgressStore
  control: ControlStore
  log: LogStore
  mover: Mover
  fences: FenceStore
  roster: RosterStore
  locks: LockStore
  store: Pick<Store, 'pulse' | 'inspect' | 'close'>
}

export type PortName = keyof Ports

type Methods<Port> = Readonly<Record<keyof Port, true>>

/** The methods of every port: the compiler knows when one is missing here. */
export const PORTS: { readonly [Name in PortName]: Methods<Ports[Name]> } = {
  entries: { open: true, put: true, cancel: true, reschedule: true, take: true, settle: true, mark: true },
  browse: { get: true, list: true, count: true, deaths: true, pools: true, pool: true },
  dead: { list: true, payloads: true, redrive: true, remove: true, purge: true },
  progress: { tell: true, read: true, sweep: true },
  control: { read: true, write: true },
  log: { open: true, append: true, read: true, topics: true, topic: true, trim: true },
  mover: { move: true },
  fences: { raise: true, release: true, fences: true },
  roster: {
    join: true,
    serve: true,
    reach: true,
    view: true,
    decide: true,
    grant: true,
    leave: true,
    drain: true,
    stepDown: true,
    markIdle: true,
    forget: true,
  },
  locks: { acquire: true, release: true, held: true },
  store: { pulse: true, inspect: true, close: true },
}

/** What the thread is started with. */
export interface Start {
  path: string
  /** The member for whom its telemetry is. */
  member: string
}

export interface Call {
  id: number
  port: PortName
  method: string
  args: unknown[]
}

export type Message =
  | { kind: 'opened'; address: string; putsAtOnce: number }
  | { kind: 'refused'; error: WireError }
  | { kind: 'answered'; id: number; answer: unknown }
  | { kind: 'failed'; id: number; error: WireError }
  | { kind: 'hint'; hint: Hint }
  | { kind: 'emitted'; name: TelemetryName; payload: object; error?: WireError }

export interface WireError {
  /** Null: it is no HeadraceError. */
  code: ErrorCode | null
  remedy: string | null
  message: string
  stack: string | undefined
  cause: WireError | null
}

/** Causes of causes go no deeper: they may go round. */
const DEEPEST_CAUSE = 5

export function toWire(error: unknown, deep = 0): WireError {
  if (!(error instanceof Error)) {
    return { code: null, remedy: null, message: String(error), stack: undefined, cause: null }
  }
  const { message, stack, cause } = error
  const from = cause === undefined || deep === DEEPEST_CAUSE ? null : toWire(cause, deep + 1)
  const [code, remedy] = error instanceof HeadraceError ? [error.code, error.remedy] : [null, null]
  return { code, remedy, message, stack, cause: from }
}

export function fromWire({ code, remedy, message, stack, cause: from }: WireError): Error {
  const cause = from === null ? undefined : fromWire(from)
  const details = remedy === null ? { cause } : { cause, remedy }
  const error = code === null ? new Error(message, { cause }) : new HeadraceError(code, message, details)
  if (stack !== undefined) error.stack = stack
  return error
}
