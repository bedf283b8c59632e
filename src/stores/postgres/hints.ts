// Hints between processes: what changed here is told to the others by NOTIFY, at most every 20 ms, and theirs are heard on a
// connection that does nothing else. Behind a pooler there is nothing to hear: LISTEN belongs to a session. Within this
// process every hint is passed on at once.
import type { Client, PoolConfig } from 'pg'
import type { Clock, Timer } from '../../clock.ts'
import type { Hint } from '../../store.ts'
import type { Connections } from './connections.ts'
import { type Letter, readLetter } from './letter.ts'
import { READ } from './pools.ts'
import type { Queries } from './queries.ts'

export interface HintsParts {
  connections: Connections
  queries: Queries
  clock: Clock
  /** Who sends: one's own hints are not heard again. */
  opening: string
  createClient(config: PoolConfig): Client
  config: PoolConfig
}

const EVERY_MS = 20
const LISTEN_AGAIN_MS = 1000
const LISTEN_WITHIN_MS = 5000
/** A notification has room for 8,000 bytes; more pools and topics than fit are left out. */
const MOST_NAMES = 50

export class Hints {
  readonly #parts: HintsParts
  readonly #listeners = new Set<(hint: Hint) => void>()
  readonly #puts = new Map<string, number>()
  readonly #topics = new Set<string>()
  #roster = false
  #pause: Timer | null = null
  #sending: Promise<void> = Promise.resolve()
  #ear: Client | null = null
  #again: Timer | null = null
  #isClosed = false
  #isDirect: boolean | null = null

  constructor(parts: HintsParts) {
    this.#parts = parts
  }

  /** Whether nothing stands between this process and the server; null: not known yet. */
  get isDirect(): boolean | null {
    return this.#isDirect
  }

  watch(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Something changed here. */
  readonly tell = (hint: Hint): void => {
    this.#pass(hint)
    if (hint.kind === 'put')
      this.#puts.set(hint.pool, Math.min(this.#puts.get(hint.pool) ?? Infinity, hint.dueAt))
    else if (hint.kind === 'appended') this.#topics.add(hint.topic)
    else this.#roster ||= hint.kind === 'roster'
    if (this.#pause === null) this.#send()
  }

  /** Begins to hear the others, if the connection is direct; what fails is tried again later. */
  async listen(): Promise<void> {
    const { config, queries, clock } = this.#parts
    const ear = this.#parts.createClient({ ...config, query_timeout: LISTEN_WITHIN_MS })
    const lost = (): void => {
      if (this.#ear !== ear && this.#ear !== null) return
      this.#ear = null
      this.#again?.cancel()
      if (!this.#isClosed) {
        this.#again = clock.timer(LISTEN_AGAIN_MS, () => void this.listen(), { background: true })
      }
    }
    ear.on('error', lost)
    ear.on('end', lost)
    ear.on('notification', ({ payload }) => {
      for (const hint of readLetter(payload ?? '', this.#parts.opening)) this.#pass(hint)
    })
    try {
      await ear.connect()
      this.#isDirect = await isDirect(ear, queries)
      if (this.#isClosed || !this.#isDirect) {
        ear.off('end', lost)
        await ear.end()
        return
      }
      await ear.query(queries.text('listen'))
      this.#ear = ear
      // It was closed meanwhile, and could not know of this one.
      if (this.#isClosed) await ear.end()
    } catch {
      // The end of the connection is told by its event.
      await ear.end().catch(() => undefined)
      lost()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#pause?.cancel()
    this.#again?.cancel()
    this.#listeners.clear()
    await this.#sending
    await this.#ear?.end().catch(() => undefined)
  }

  #pass(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint)
  }

  /** Sends what has gathered, and lets more gather for a while. */
  #send(): void {
    const letter: Letter = {
      from: this.#parts.opening,
      puts: [...this.#puts].slice(0, MOST_NAMES),
      topics: [...this.#topics].slice(0, MOST_NAMES),
      roster: this.#roster,
    }
    this.#puts.clear()
    this.#topics.clear()
    this.#roster = false
    const { connections, queries, clock } = this.#parts
    // A hint that is lost is lost: the pulse finds what it spoke of.
    this.#sending = connections
      .query('notify', [queries.schema, JSON.stringify(letter)], READ)
      .then(() => undefined)
      .catch(() => undefined)
    this.#pause = clock.timer(
      EVERY_MS,
      () => {
        this.#pause = null
        if (this.#isClosed) return
        if (this.#puts.size > 0 || this.#topics.size > 0 || this.#roster) this.#send()
      },
      { background: true },
    )
  }
}

/** The server sees the port that this end has, unless a pooler or proxy stands between. */
async function isDirect(client: Client, queries: Queries): Promise<boolean> {
  const { rows } = await client.query<{ port: number | null }>(queries.text('client_port'))
  const stream = (client as unknown as { connection: { stream: { localPort?: number } } }).connection.stream
  const seen = rows[0]?.port ?? null
  // Over a socket of the system there is no port on either side.
  return seen === (stream.localPort ?? null)
}
