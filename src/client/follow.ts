// Follows what a server tells by server-sent events, and connects again when the connection is lost: a topic, whose events
// are handed out once each though the server sends some again, an entry until it is gone, and how the server is doing.
import { HeadraceError } from '../errors.ts'
import { maskAddress } from '../mask.ts'
import type { Problem, TopicEvent } from './answers.ts'
import type { StreamedView } from './insight-answers.ts'
import type { EntryView } from './pool-answers.ts'
import { errorOf } from './problem.ts'
import { SseReader } from './sse.ts'
import { type Call, type TransportParts, callStream } from './transport.ts'

export interface FollowOptions {
  signal?: AbortSignal | undefined
  /** Told of a lost connection before it is opened again. */
  onLost?: ((error: unknown) => void) | undefined
}

export interface FollowParts {
  transport: TransportParts
  call: Call
  signal: AbortSignal | null
  onLost: FollowOptions['onLost']
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
}

/** One event: its name, and what its data say. */
interface Told {
  name: string | null
  value: unknown
}

/** The events of a topic, or of one partition, each once. */
export async function* followTopic<Value>(parts: FollowParts): AsyncGenerator<TopicEvent<Value>, void> {
  /** Partition → the offset after the last event handed out. */
  const next = new Map<number, number>()
  for await (const { value } of follow(parts)) {
    const event = value as TopicEvent<Value>
    if (event.offset < (next.get(event.partition) ?? 0)) continue
    next.set(event.partition, event.offset + 1)
    yield event
  }
}

/** An entry as it is, and whenever that has changed, until it is gone. */
export async function* followEntry(parts: FollowParts): AsyncGenerator<EntryView, void> {
  let wasThere = false
  try {
    for await (const { name, value } of follow(parts)) {
      if (name === 'gone') return
      wasThere = true
      yield value as EntryView
    }
  } catch (error) {
    // It went while nobody was connected.
    if (!wasThere || !(error instanceof HeadraceError) || error.code !== 'entry_unknown') throw error
  }
}

/** The meter and the verdict, each once a second. */
export async function* followServer(parts: FollowParts): AsyncGenerator<StreamedView, void> {
  for await (const { name, value } of follow(parts)) yield { name, value } as StreamedView
}

/** Events until the signal fires. Throws when the first connection fails, or the server refuses a later one. */
async function* follow(parts: FollowParts): AsyncGenerator<Told, void> {
  const progress: Progress = { lastId: null, connected: false, retryInMs: FIRST_RETRY_MS }
  const { clock } = parts.transport
  const isOver = (): boolean => parts.signal?.aborted === true
  while (!isOver()) {
    try {
      yield* connection(parts, progress)
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
async function* connection(
  { transport, call, signal }: FollowParts,
  progress: Progress,
): AsyncGenerator<Told, void> {
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
      yield { name, value: JSON.parse(data) as unknown }
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
    const message = `nothing came for ${SILENCE_MS} ms from ${maskAddress(server)}`
    silence.reject(new HeadraceError('server_unreachable', message))
  })
  try {
    return await Promise.race([reader.read(), silence.promise])
  } finally {
    timer.cancel()
  }
}
