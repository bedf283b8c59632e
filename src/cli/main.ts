#!/usr/bin/env node
// The process: runs the command line, and ends with the exit code that its outcome has. The only file that
// knows exit codes.
import { CommanderError } from 'commander'
import { systemClock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { type CliContext, Ended } from './context.ts'
import { formatError } from './errors.ts'
import { hasColor } from './output.ts'
import { createProgram } from './program.ts'
import { usageError } from './usage.ts'

const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  notFound: 4,
  conflict: 5,
  notPermitted: 6,
  thresholdMissed: 8,
  interrupted: 130,
  terminated: 143,
} as const

/** Exit codes of error codes; every other one is `failed`. */
const EXIT_OF: Record<string, number> = {
  invalid_options: EXIT.usage,
  invalid_input: EXIT.usage,
  store_unknown: EXIT.usage,
  server_unreachable: EXIT.unreachable,
  not_running: EXIT.unreachable,
  store_busy: EXIT.unreachable,
  store_went_back: EXIT.unreachable,
  tick_unknown: EXIT.notFound,
  topic_unknown: EXIT.notFound,
  pool_unknown: EXIT.notFound,
  entry_unknown: EXIT.notFound,
  partition_unknown: EXIT.notFound,
  member_unknown: EXIT.notFound,
  offset_gone: EXIT.notFound,
  entry_due: EXIT.conflict,
  entry_exists: EXIT.conflict,
  tick_due: EXIT.conflict,
  payloads_full: EXIT.conflict,
  tick_exists: EXIT.conflict,
  idempotency_mismatch: EXIT.conflict,
  pool_mismatch: EXIT.conflict,
  topic_mismatch: EXIT.conflict,
  resource_mismatch: EXIT.conflict,
  address_in_use: EXIT.conflict,
  token_required: EXIT.notPermitted,
  unauthorized: EXIT.notPermitted,
  cross_site: EXIT.notPermitted,
  host_unknown: EXIT.notPermitted,
}

const EXIT_OF_END: Record<Ended['how'], number> = {
  interrupted: EXIT.interrupted,
  terminated: EXIT.terminated,
  'threshold missed': EXIT.thresholdMissed,
  'finding failed': EXIT.thresholdMissed,
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Ended) return EXIT_OF_END[error.how]
  return error instanceof HeadraceError ? (EXIT_OF[error.code] ?? EXIT.failed) : EXIT.failed
}

/** The first SIGINT or SIGTERM asks the command to end, the second ends the process. */
function listenForSignals(): AbortSignal {
  const controller = new AbortController()
  const hear = (how: 'interrupted' | 'terminated'): void => {
    if (controller.signal.aborted) process.exit(EXIT[how])
    controller.abort(new Ended(how))
  }
  process.on('SIGINT', () => hear('interrupted'))
  process.on('SIGTERM', () => hear('terminated'))
  return controller.signal
}

/**
 * A reader that has seen enough (`| head`) closes the pipe and so ends a command, without a failure. Nothing
 * else does: a server outlives whoever collects its log, and what is only talk may go unheard.
 */
function listenForClosedPipes(args: readonly string[]): void {
  const isServer = args.find((arg) => !arg.startsWith('-')) === 'serve'
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isServer) process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed)
  })
}

function fail(error: unknown, { context, args }: { context: CliContext; args: readonly string[] }): number {
  const asks = (flag: string): boolean => args.includes(flag)
  const color = hasColor(context.stderr, { env: context.env, asked: !asks('--no-color') })
  if (!(error instanceof Ended)) {
    const look = { json: asks('--json'), verbose: asks('--verbose'), color }
    context.stderr.write(formatError(error, look))
  }
  return exitCodeOf(error)
}

/** Runs one command line to its end and answers the exit code. */
async function run(args: readonly string[], context: CliContext): Promise<number> {
  const program = createProgram(context)
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(error, { context, args })
    if (error.exitCode === 0) return EXIT.done
    // Commander has printed the help of a command that needs a further word.
    if (error.code === 'commander.help') return EXIT.usage
    return fail(usageError(error, program, args), { context, args })
  }
}

const args = process.argv.slice(2)
listenForClosedPipes(args)
process.exitCode = await run(args, {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  startedAt: systemClock.mono(),
  signal: listenForSignals(),
})
