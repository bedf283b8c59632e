// Runs programs as a user would, each in a process and an empty folder of its own, and reads what a Markdown
// page says that they print.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

export const root = join(import.meta.dirname, '../..')
const withinMs = 30_000

/** An empty folder that is gone when the test ends. */
export function emptyFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'headrace-example-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** What a program of the checkout prints to stdout; rejects when it fails or takes too long. */
export async function outputOf(
  file: string,
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const args = ['--conditions=headrace-source', file]
  const options = { cwd, env: { ...process.env, ...env }, timeout: withinMs }
  return (await promisify(execFile)(process.execPath, args, options)).stdout
}

/**
 * What a program prints to stdout that goes on until SIGTERM, which it gets when it has printed what is expected. Rejects
 * when it ends in another way than with 0.
 */
export async function outputUntil(
  expected: string,
  command: string,
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: withinMs,
    killSignal: 'SIGKILL',
  })
  let printed = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (printed.length >= expected.length) child.kill('SIGTERM')
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (code !== 0)
    throw new Error(`${args.join(' ')} ended with ${code ?? signal} and printed: ${printed}${errors}`)
  return printed
}

/** The blocks of one language in a page of the repository. */
export function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , block = '']) => block)
}

/** A server of the checkout on a free port, with a store in memory; stopped when the test ends. */
export async function startServer(): Promise<{ url: string } & AsyncDisposable> {
  const args = [join(root, 'src/cli/main.ts'), 'serve', '--json', '--store', 'memory:', '--port', '0']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line', {
    signal: AbortSignal.timeout(withinMs),
  })
  const { url }: { url: string } = JSON.parse(String(line))
  return { url, [Symbol.asyncDispose]: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
