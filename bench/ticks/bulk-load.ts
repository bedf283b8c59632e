// A process: streams ticks as NDJSON. All lines are written before the clock starts, so that the client costs
// little; the clock stops when the last result line is back.
import { request } from 'node:http'
import { systemClock, toIso } from '../../src/clock.ts'
import { type Random, createRandom } from '../../src/random.ts'
import { answerParent, tellParent } from '../child.ts'
import type { Processes } from '../process.ts'

export interface BulkInput {
  server: string
  lines: number
  connections: number
  /** Due times are uniform from now to this far ahead; 0: all are due at once. */
  windowMs: number
}

export interface BulkAnswer {
  results: number
  errors: number
  tookMs: number
}

const IDS = 1_000_000
const CHUNK_LINES = 1000
const NEWLINE = 0x0a

/** Streams in a process of its own; answers result lines per second. Throws unless each line got its result. */
export async function runBulk(processes: Processes, input: BulkInput): Promise<number> {
  const { results, errors, tookMs } = await processes.run<BulkAnswer>(import.meta.filename, input)
  if (results !== input.lines || errors > 0) {
    throw new Error(`${input.lines} lines got ${results} results, with errors in ${errors} pieces`)
  }
  return (results * 1000) / tookMs
}

async function bulk(input: BulkInput): Promise<BulkAnswer> {
  const share = Math.ceil(input.lines / input.connections)
  const counts = Array.from({ length: input.connections }, (_, index) =>
    Math.min(share, input.lines - index * share),
  )
  const random = createRandom(Math.floor(systemClock.random() * 2 ** 32))
  const bodies = counts.map((lines) => writeChunks(lines, input.windowMs, random))
  tellParent('streams')
  const began = systemClock.mono()
  const answers = await Promise.all(bodies.map((chunks) => stream(input.server, chunks)))
  const tookMs = systemClock.mono() - began
  const sum = (name: 'results' | 'errors'): number =>
    answers.reduce((total, answer) => total + answer[name], 0)
  return { results: sum('results'), errors: sum('errors'), tookMs }
}

function writeChunks(lines: number, windowMs: number, random: Random): Buffer[] {
  const from = systemClock.now()
  const line = (): string => {
    const item = String(random.below(IDS)).padStart(7, '0')
    return `{"item":"item-${item}","at":"${toIso(from + random.below(windowMs))}"}\n`
  }
  return Array.from({ length: Math.ceil(lines / CHUNK_LINES) }, (_, index) => {
    const count = Math.min(CHUNK_LINES, lines - index * CHUNK_LINES)
    return Buffer.from(Array.from({ length: count }, line).join(''))
  })
}

function stream(server: string, chunks: Buffer[]): Promise<Omit<BulkAnswer, 'tookMs'>> {
  return new Promise((resolve, reject) => {
    const call = request(`${server}/ticks`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
    })
    call.on('error', reject)
    call.on('response', (response) => {
      const answer = { results: 0, errors: response.statusCode === 202 ? 0 : 1 }
      response.on('error', reject)
      response.on('data', (data: Buffer) => {
        answer.results += countLines(data)
        if (data.includes('"error"')) answer.errors += 1
      })
      response.on('end', () => resolve(answer))
    })
    let next = 0
    const send = (): void => {
      while (next < chunks.length) if (!call.write(chunks[next++])) return void call.once('drain', send)
      call.end()
    }
    send()
  })
}

function countLines(data: Buffer): number {
  let count = 0
  for (let at = data.indexOf(NEWLINE); at >= 0; at = data.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

if (import.meta.main) await answerParent(bulk)
