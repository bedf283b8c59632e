// Runs the command line: within this process with streams of its own, or as a process for its exit code.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../../../src/cli/program.ts'
import { systemClock } from '../../../src/clock.ts'

export interface Printed {
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string>
  /** Both streams are terminals. */
  isTTY?: boolean
  signal?: AbortSignal
}

/** Runs a command within this process; rejects with its error. */
export async function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Printed> {
  const printed: Printed = { stdout: '', stderr: '' }
  const stream = (name: keyof Printed): { write(text: string): void; isTTY: boolean } => ({
    write: (text) => void (printed[name] += text),
    isTTY: options.isTTY ?? false,
  })
  const program = createProgram({
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: options.env ?? {},
    clock: systemClock,
    startedAt: systemClock.mono(),
    signal: options.signal ?? new AbortController().signal,
  })
  await program.parseAsync([...args], { from: 'user' })
  return printed
}

export interface CliProcess {
  /** Resolves when stdout or stderr holds the text. */
  saw(text: string): Promise<void>
  kill(signal: NodeJS.Signals): void
  closeStdout(): void
  closeStderr(): void
  readonly printed: Printed
  readonly exited: Promise<Printed & { code: number | null }>
}

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))

/** Starts a command as a process of its own, in a folder if one is given. */
export function startCli(
  args: readonly string[],
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const printed: Printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const exited = new Promise<Printed & { code: number | null }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...printed }))
  })
  return {
    printed,
    exited,
    kill: (signal) => void child.kill(signal),
    closeStdout: () => void child.stdout.destroy(),
    closeStderr: () => void child.stderr.destroy(),
    async saw(text) {
      const holds = (): boolean => printed.stdout.includes(text) || printed.stderr.includes(text)
      const seen = new Promise<void>((resolve) => {
        const look = (): void => (holds() ? resolve() : undefined)
        child.stdout.on('data', look)
        child.stderr.on('data', look)
        look()
      })
      await Promise.race([seen, exited])
      if (!holds()) throw new Error(`ended without ${JSON.stringify(text)}: ${JSON.stringify(printed)}`)
    },
  }
}
