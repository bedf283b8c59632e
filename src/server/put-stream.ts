// A body with a put per line: reads, puts in batches, and answers a line for each, in order. At most a
// few batches are under way, so a slow store slows the sender, and a slow reader slows both.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HeadraceError } from '../errors.ts'
import type { Put, PutAnswer } from '../pool/merge.ts'
import type { Pool } from '../pool/pool.ts'
import { answersOf } from '../pool/put-options.ts'
import { Chunks } from './chunks.ts'
import { parseJson, refuse } from './json.ts'
import { type Line, LONGEST_LINE_BYTES, LineSplitter } from './lines.ts'
import { Outlet } from './outlet.ts'
import { ACCEPTED, EVERY_ANSWER, problemOf, toHeadraceError } from './problem.ts'
import type { ServerContext } from './route.ts'
import { endEarly } from './unread.ts'

/** The most lines in one batch, and the most batches under way: what one stream can hold in memory. */
const BATCH_LINES = 1000
const MOST_BATCHES = 4
/** How long a client may neither send nor read. */
const IDLE_MS = 30_000
const LOOK_MS = 5000

/** What a line is, and how it is answered: the members of the answer, without the braces. Both may throw. */
export interface LineRules<Given extends Put> {
  pool: Pool
  read(value: unknown): Given
  write(put: Given, answer: PutAnswer): string
}

export async function streamPuts<Given extends Put>(
  context: ServerContext,
  rules: LineRules<Given>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  reply.hijack()
  const stream = new PutStream(context, rules, { request: request.raw, response: reply.raw })
  await stream.run()
  return reply
}

type Ending = 'end' | 'idle' | 'drain'

class PutStream<Given extends Put> {
  readonly #context: ServerContext
  readonly #rules: LineRules<Given>
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #chunks: Chunks
  readonly #outlet: Outlet
  readonly #lines = new LineSplitter()
  readonly #written: Promise<void>[] = []
  #ending: Ending = 'end'
  #progress = 0
  /** Lines whose answers are not written yet: while there are any, the client may be waiting for us. */
  #unanswered = 0

  constructor(
    context: ServerContext,
    rules: LineRules<Given>,
    { request, response }: { request: IncomingMessage; response: ServerResponse },
  ) {
    this.#context = context
    this.#rules = rules
    this.#request = request
    this.#response = response
    this.#chunks = new Chunks(request)
    this.#outlet = new Outlet(response)
  }

  async run(): Promise<void> {
    const { drain } = this.#context
    const release = drain.exempt(this.#request.socket)
    const stopWatch = this.#watch()
    const onDrain = (): void => this.#stop('drain')
    drain.signal.addEventListener('abort', onDrain, { once: true })
    if (drain.draining) onDrain()
    this.#response.writeHead(ACCEPTED, {
      'content-type': 'application/x-ndjson',
      ...EVERY_ANSWER,
    })
    this.#response.flushHeaders()
    await this.#readAll()
    await Promise.all(this.#written)
    drain.signal.removeEventListener('abort', onDrain)
    stopWatch()
    release()
    await this.#end()
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const chunk = await this.#chunks.next()
      if (chunk === null) break
      this.#progress = this.#context.race.clock.mono()
      await this.#take(this.#lines.push(chunk))
    }
    if (this.#request.readableEnded) await this.#take(this.#lines.end())
  }

  async #take(lines: Line[]): Promise<void> {
    for (let from = 0; from < lines.length; from += BATCH_LINES) {
      const batch = lines.slice(from, from + BATCH_LINES)
      this.#unanswered += batch.length
      const answered = this.#put(batch)
      this.#written.push(this.#write(answered, batch.length, this.#written.at(-1)))
      if (this.#written.length >= MOST_BATCHES) await this.#written.shift()
    }
  }

  async #write(answered: Promise<string>, lines: number, before: Promise<void> | undefined): Promise<void> {
    await before
    await this.#outlet.write(await answered)
    this.#unanswered -= lines
    this.#progress = this.#context.race.clock.mono()
  }

  /** Puts the lines that can be put, and answers the text of every line's result. Never throws. */
  async #put(lines: Line[]): Promise<string> {
    const { pool } = this.#rules
    const read = lines.filter((line) => !isBlank(line)).map((line) => readLine(line, this.#rules))
    const puts = read.filter((line) => line.put !== null).map((line) => line.put as Given)
    try {
      const answers = puts.length === 0 ? [] : answersOf(await pool.request({ puts, repeat: null }))
      let index = 0
      const answerOf = ({ put }: ReadLine<Given>): PutAnswer | undefined =>
        put === null ? undefined : answers[index++]
      return read.map((line) => writeLine(line, answerOf(line), this.#rules)).join('')
    } catch (error) {
      const failure = toHeadraceError(error)
      return read.map(({ number, error }) => writeError(number, error ?? failure)).join('')
    }
  }

  #stop(ending: Ending): void {
    if (this.#ending === 'end') this.#ending = ending
    this.#chunks.stop()
  }

  /** Looks from time to time whether the client still sends or reads. */
  #watch(): () => void {
    const { clock } = this.#context.race
    this.#progress = clock.mono()
    const look = (): void => {
      const idle = clock.mono() - this.#progress >= IDLE_MS
      if (idle && this.#outlet.full) this.#request.socket.destroy()
      else if (idle && this.#unanswered === 0) this.#stop('idle')
      timer = clock.timer(LOOK_MS, look, { background: true })
    }
    let timer = clock.timer(LOOK_MS, look, { background: true })
    return () => timer.cancel()
  }

  async #end(): Promise<void> {
    if (this.#outlet.closed) return
    if (this.#ending === 'end' || this.#request.readableEnded) {
      this.#response.end()
      return
    }
    await this.#outlet.write(writeError(this.#lines.next, endingError(this.#ending, this.#lines.next)))
    endEarly(this.#request, this.#response, this.#context.race.clock)
  }
}

interface ReadLine<Given> {
  number: number
  put: Given | null
  error: HeadraceError | null
}

function isBlank({ text }: Line): boolean {
  return text !== null && (text === '' || (text.charCodeAt(0) <= 0x20 && text.trim() === ''))
}

function readLine<Given extends Put>({ number, text, flaw }: Line, rules: LineRules<Given>): ReadLine<Given> {
  try {
    if (text === null) throw flawError(flaw)
    return { number, put: rules.read(parseJson(text)), error: null }
  } catch (error) {
    return { number, put: null, error: toHeadraceError(error) }
  }
}

function flawError(flaw: Line['flaw']): HeadraceError {
  return flaw === 'not-utf8'
    ? refuse('the line is not UTF-8', 'encode it as UTF-8')
    : refuse(
        `the line has more than ${LONGEST_LINE_BYTES} bytes, which is the limit`,
        'send a smaller payload',
      )
}

function writeLine<Given extends Put>(
  { number, put, error }: ReadLine<Given>,
  answer: PutAnswer | undefined,
  rules: LineRules<Given>,
): string {
  if (put === null || answer === undefined) return writeError(number, error ?? toHeadraceError(null))
  try {
    return `{"line":${number},${rules.write(put, answer)}}\n`
  } catch (exists) {
    return writeError(number, toHeadraceError(exists))
  }
}

function writeError(line: number, error: HeadraceError): string {
  const { code, detail, remedy } = problemOf(error)
  return `${JSON.stringify({ line, error: { code, detail, remedy } })}\n`
}

function endingError(ending: Ending, line: number): HeadraceError {
  const remedy = `send line ${line} and those after it again`
  if (ending === 'drain') {
    return new HeadraceError(
      'not_running',
      `the server stops; line ${line} and those after it were not read`,
      {
        remedy,
      },
    )
  }
  return new HeadraceError(
    'request_timeout',
    `nothing came for ${IDLE_MS / 1000} seconds; line ${line} was not read to its end`,
    { remedy },
  )
}
