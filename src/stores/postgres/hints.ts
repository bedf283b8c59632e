// Hints between processes: what changed here is sent to the others by NOTIFY, at most every 20 ms; theirs are received by
// notify-listener.ts. Within this process every hint is passed on at once.
import type { Client, PoolConfig } from 'pg'
import type { Clock, Timer } from '../../clock.ts'
import { Listeners } from '../../listeners.ts'
import type { Hint } from '../../store.ts'
import type { Emitter } from '../../telemetry.ts'
import type { Connections } from './connections.ts'
import { NotifyListener } from './notify-listener.ts'
import { type NotifyPayload, readNotifyPayload } from './notify-payload.ts'
import { READ } from './pools.ts'
import type { Queries } from './queries.ts'

export interface HintsParts {
  connections: Connections
  queries: Queries
  clock: Clock
  telemetry: Emitter
  /** Names the sender: a process ignores its own notifications. */
  opening: string
  createClient(config: PoolConfig): Client
  config: PoolConfig
}

const EVERY_MS = 20
/** A notification has room for 8,000 bytes; more pools and topics than fit are left out. */
const MOST_NAMES = 50

export class Hints {
  readonly #parts: HintsParts
  readonly #listeners: Listeners<[Hint]>
  readonly #listener: NotifyListener
  readonly #puts = new Map<string, number>()
  readonly #topics = new Set<string>()
  readonly #controls = new Set<string>()
  #roster = false
  #pause: Timer | null = null
  #sending: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: HintsParts) {
    this.#parts = parts
    this.#listeners = new Listeners((error) => parts.telemetry.emit('listener.failed', { error }))
    this.#listener = new NotifyListener({
      ...parts,
      receive: (payload) => {
        for (const hint of readNotifyPayload(payload, parts.opening)) this.#listeners.tell(hint)
      },
      // Notifications may have been lost: everything may have changed.
      recovered: () => {
        this.#listeners.tell({ kind: 'foreign' })
        this.#listeners.tell({ kind: 'roster' })
      },
    })
  }

  /** Whether no pooler stands between this process and the server; null: not known yet. */
  get isDirect(): boolean | null {
    return this.#listener.isDirect
  }

  watch(listener: (hint: Hint) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Something changed here. */
  readonly send = (hint: Hint): void => {
    this.#listeners.tell(hint)
    if (hint.kind === 'put')
      this.#puts.set(hint.pool, Math.min(this.#puts.get(hint.pool) ?? Infinity, hint.dueAt))
    else if (hint.kind === 'appended') this.#topics.add(hint.topic)
    else if (hint.kind === 'control') this.#controls.add(hint.pool)
    else this.#roster ||= hint.kind === 'roster'
    if (this.#pause === null) this.#send()
  }

  /** Begins to receive the hints of others, if the connection is direct. */
  listen(): Promise<void> {
    return this.#listener.listen()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#pause?.cancel()
    this.#listeners.clear()
    await this.#sending
    await this.#listener.close()
  }

  /** Sends what has gathered, and lets more gather for a while. */
  #send(): void {
    const payload: NotifyPayload = {
      from: this.#parts.opening,
      puts: [...this.#puts].slice(0, MOST_NAMES),
      topics: [...this.#topics].slice(0, MOST_NAMES),
      controls: [...this.#controls].slice(0, MOST_NAMES),
      roster: this.#roster,
    }
    this.#puts.clear()
    this.#topics.clear()
    this.#controls.clear()
    this.#roster = false
    const { connections, queries, clock } = this.#parts
    // A lost hint is not sent again: the pulse finds what it was about.
    this.#sending = connections
      .query('notify', [queries.schema, JSON.stringify(payload)], READ)
      .then(() => undefined)
      .catch(() => undefined)
    this.#pause = clock.timer(
      EVERY_MS,
      () => {
        this.#pause = null
        if (this.#isClosed) return
        if (this.#puts.size + this.#topics.size + this.#controls.size > 0 || this.#roster) this.#send()
      },
      { background: true },
    )
  }
}
