// What a command is handed from outside: streams, environment, clock and the signal of an interruption. Tests
// hand in their own.
import type { Clock } from '../clock.ts'
import type { Faults } from '../fault.ts'

export interface CliStream {
  write(text: string): unknown
  isTTY?: boolean
}

export interface CliContext {
  stdout: CliStream
  stderr: CliStream
  env: Record<string, string | undefined>
  clock: Clock
  /** The clock's mono() when the process began its work. */
  startedAt: number
  /** Fires at the first SIGINT or SIGTERM, with an `Ended` as its reason. */
  signal: AbortSignal
  /** The server that a command started for itself, which then is the one it talks to. */
  local?: ServerAddress
  /** A plan of faults, where a process test has one. */
  faults?: Faults
}

export interface ServerAddress {
  server: string
  token: string | null
}

/** The end of a command that is neither success nor an error to explain. What there was to say was said. */
export class Ended extends Error {
  override readonly name = 'Ended'
  readonly how: 'interrupted' | 'terminated' | 'threshold missed' | 'finding failed'

  constructor(how: Ended['how']) {
    super(how)
    this.how = how
  }
}
