// The connection that listens for the notifications of other processes, and does nothing else. A connection that was cut on
// the way reports no error, so one that was silent for long is probed; a lost one is replaced. Behind a pooler nothing is
// received: LISTEN belongs to a session.
import type { Socket } from 'node:net'
import type { Client, PoolConfig } from 'pg'
import type { Clock, Timer } from '../../clock.ts'
import type { Queries } from './queries.ts'

export interface NotifyListenerParts {
  queries: Queries
  clock: Clock
  createClient(config: PoolConfig): Client
  config: PoolConfig
  /** A notification came. */
  receive(payload: string): void
  /** It listens again; notifications since the connection was lost are missing. */
  recovered(): void
}

const AGAIN_MS = 1000
const WITHIN_MS = 5000
const GOODBYE_MS = 1000
/** How often it is asked while it is silent: a tenth of a statement a second. */
const LOOK_EVERY_MS = 10_000

export class NotifyListener {
  readonly #parts: NotifyListenerParts
  #client: Client | null = null
  /** Whether a notification came since the last probe. */
  #hasReceived = false
  #hasFailed = false
  /** While it begins. */
  #beginning: Promise<void> | null = null
  #again: Timer | null = null
  #look: Timer | null = null
  #isClosed = false
  #isDirect: boolean | null = null

  constructor(parts: NotifyListenerParts) {
    this.#parts = parts
  }

  /** Whether no pooler stands between this process and the server; null: not known yet. */
  get isDirect(): boolean | null {
    return this.#isDirect
  }

  /** Begins to listen, if the connection is direct; retries later if that fails. Once at a time: a second would be lost. */
  listen(): Promise<void> {
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = null))
    return this.#beginning
  }

  async #begin(): Promise<void> {
    const { config, queries } = this.#parts
    const client = this.#parts.createClient({ ...config, query_timeout: WITHIN_MS })
    const lost = (): void => this.#lost(client)
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ payload }) => {
      this.#hasReceived = true
      this.#parts.receive(payload ?? '')
    })
    try {
      await client.connect()
      this.#isDirect = await isDirect(client, queries)
      if (this.#isClosed || !this.#isDirect) {
        client.off('end', lost)
        await client.end()
        return
      }
      await client.query(queries.text('listen'))
      this.#began(client)
      // It was closed meanwhile, and could not know of this one.
      if (this.#isClosed) await this.close()
    } catch {
      await this.#hangUp(client)
      lost()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#again?.cancel()
    this.#look?.cancel()
    if (this.#client !== null) await this.#hangUp(this.#client)
  }

  /** Says goodbye, and does not wait long for the answer of a server that may be gone. */
  async #hangUp(client: Client): Promise<void> {
    const patience = this.#parts.clock.timer(GOODBYE_MS, () => streamOf(client).destroy())
    await client.end().catch(() => undefined)
    patience.cancel()
  }

  #began(client: Client): void {
    this.#client = client
    this.#again?.cancel()
    this.#lookLater(client)
    if (this.#hasFailed) this.#parts.recovered()
    this.#hasFailed = false
  }

  #lost(client: Client): void {
    if (this.#client !== client && this.#client !== null) return
    this.#client = null
    this.#hasFailed = true
    this.#again?.cancel()
    this.#look?.cancel()
    if (this.#isClosed) return
    this.#again = this.#parts.clock.timer(AGAIN_MS, () => void this.listen(), { background: true })
  }

  #lookLater(client: Client): void {
    this.#hasReceived = false
    this.#look = this.#parts.clock.timer(LOOK_EVERY_MS, () => void this.#probe(client), { background: true })
  }

  /** Probes the connection, unless a notification came; one that does not answer is given up. */
  async #probe(client: Client): Promise<void> {
    try {
      if (!this.#hasReceived) await client.query(this.#parts.queries.text('probe'))
      if (client === this.#client && !this.#isClosed) this.#lookLater(client)
    } catch {
      await this.#hangUp(client)
      this.#lost(client)
    }
  }
}

/**
 * Whether the backend that answers has the process id that the connection received when it was made. A pooler makes up ids
 * of its own. A proxy that only forwards keeps the session, and counts as direct.
 */
async function isDirect(client: Client, queries: Queries): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>(queries.text('backend'))
  return rows[0]?.pid === (client as unknown as { processID: number | null }).processID
}

function streamOf(client: Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
