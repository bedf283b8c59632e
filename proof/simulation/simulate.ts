// Simulates in a process of its own, as a user would, and answers what it printed.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ProofContext } from '../row.ts'

const script = join(import.meta.dirname, '../../scripts/simulate.ts')

/** The document that `npm run simulate -- … --json` prints; that a promise was broken is for the rows to say. */
export async function simulate<Document>(
  args: readonly (string | number)[],
  progress: ProofContext['progress'],
): Promise<Document> {
  const child = spawn(process.execPath, [script, ...args.map(String), '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  let last = ''
  createInterface({ input: child.stderr }).on('line', (line) => progress((last = line)))
  const code = await ended
  if (code !== 0 && code !== 1) throw new Error(`simulate ${args.join(' ')} ended with ${code}: ${last}`)
  return JSON.parse(printed) as Document
}
