// Follows a stream of events and resumes after the last one seen when the connection is lost. What was lost
// with it is sent again by the server; an event that has been handed out already is not handed out twice.
import { HeadraceError } from '../errors.ts'
import type { Problem, TopicEvent } from './answers.ts'
import { errorOf } from './problem.ts'
import { SseReader } from './sse.ts'
import { type Call, type TransportParts, callStream } from './transport.ts'

export interface FollowParts {
  transport: TransportParts
  call: Call
  signal: AbortSignal | null
  /** Told before each wait for another try. */
  onLost?: (error: unknown) => void
}

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5000
/** Three of the server's heartbeats, which come every 15 s: a peer that has vanished closes nothing. */
const SILENCE_MS = 45_000

/** What is known from the connections so far. */
interface Progress {
  lastId: string | null
  connected: boolean
  retryInMs: number
  /** Partition → the offset after the last event handed out. */
  next: Map<number, number>
}

/** Events until the signal fires. Throws when the first connection fails, or the server refuses a later one. */
export async function* follow<Value>(parts: FollowParts): AsyncGenerator<TopicEvent<Value>, void> {
  const progress: Progress = {
    lastId: null,
    connected: false,
    retryInMs: FIRST_RETRY_MS,
    next: new Map(),
  }
  const { clock } = parts.transport
  const isOver = (): boolean => parts.signal?.aborted === true
  while (!isOver()) {
    try {
      yield* connection<Value>(parts, progress)
    } catch (error) {
      if (isOver()) return
      if (!progress.connected || isFinal(error)) throw error
      parts.onLost?.(error)
    }
    await clock.sleep(progress.retryInMs * (0.5 + clock.random()), parts.signal ?? undefined)
    progress.retryInMs = Math.min(progress.retryInMs * 2, LONGEST_RETRY_MS)
  }
}

/** A refusal by the server will not change; everything else may be over in a moment. */
function isFinal(error: unknown): boolean {
  return error instanceof HeadraceError && !error.retryable
}

/** The events of one connection, until it ends or fails. */
async function* connection<Value>(
  { transport, call, signal }: FollowParts,
  progress: Progress,
): AsyncGenerator<TopicEvent<Value>, void> {
  const { lastId } = progress
  const stream = await callStream(transport, {
    ...call,
    headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
    ...(signal === null ? {} : { signal }),
  })
  progress.connected = true
  progress.retryInMs = FIRST_RETRY_MS
  const reader = new SseReader(lastId)
  const decoder = new TextDecoder()
  for await (const bytes of piecesOf(stream, transport)) {
    for (const { id, name, data } of reader.take(decoder.decode(bytes, { stream: true }))) {
      progress.lastId = id
      if (data === null) continue
      if (name === 'problem') throw errorOf(JSON.parse(data) as Problem)
      const event = JSON.parse(data) as TopicEvent<Value>
      if (isNew(event, progress)) yield event
    }
  }
}

/** What a stream brings. Throws when it stays silent, and lets go of it in any case. */
async function* piecesOf(
  stream: ReadableStream<Uint8Array>,
  transport: TransportParts,
): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await readInTime(reader, transport)
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Time counts only while a piece is waited for: whoever handles an event may take as long as it likes. */
async function readInTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { clock, server }: TransportParts,
): ReturnType<typeof reader.read> {
  const silence = Promise.withResolvers<never>()
  const timer = clock.timer(SILENCE_MS, () => {
    const message = `nothing came for ${SILENCE_MS} ms from ${server}`
    silence.reject(new HeadraceError('server_unreachable', message))
  })
  try {
    return await Promise.race([reader.read(), silence.promise])
  } finally {
    timer.cancel()
  }
}

function isNew({ partition, offset }: TopicEvent, { next }: Progress): boolean {
  if (offset < (next.get(partition) ?? 0)) return false
  next.set(partition, offset + 1)
  return true
}
