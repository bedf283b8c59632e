// A topic as its users see it: append, read, follow.
import type { Clock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import type { Gate } from '../gate.ts'
import { partitionOf } from '../partition.ts'
import { checkKey, checkPayload, describe } from '../check.ts'
import { checkOptions, optionTable, refuseSurplus } from '../check-options.ts'
import { type Accepted, type Arrivals, refuseTransaction } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import { type AnyTransaction, transactionOf } from '../tx.ts'
import type { Appended, LogEvent, LogStore, NewEvent, TopicSettings, TopicStatus } from './store.ts'

/** An event to append. */
export interface NewEventInput {
  key: string
  /** Anything JSON can hold. */
  value: unknown
  headers?: Record<string, unknown>
  /** A random one unless given. */
  id?: string
}

const EVENT = optionTable<NewEventInput>(
  'an event',
  { key: null, value: null, headers: 'object', id: null },
  { tx: 'tx belongs in the options, behind a list: topic.append([event], { tx })' },
)
const APPEND = optionTable<{ tx: AnyTransaction }>(
  'append',
  { tx: null },
  { transaction: 'did you mean tx?' },
)

/** An event as its readers see it. */
export interface EventView<Value = unknown> {
  partition: number
  offset: number
  id: string
  key: string
  value: Value
  headers: Record<string, unknown> | null
  time: Date
}

export interface TopicParts {
  settings: TopicSettings
  store: LogStore
  /** Null: the store takes no part in users' own transactions. */
  arrivals: Arrivals | null
  clock: Clock
  telemetry: Telemetry
  /** Closes when the store is about to; every call passes it. */
  gate: Gate
}

/** The most events that one read answers, and the most bytes. */
export const MOST_EVENTS = 1000
const MOST_BYTES = 16 * 1024 * 1024

/** An append-only log of events in partitions: what `race.topic(name)` answers. */
export class Topic<Value = unknown> {
  readonly name: string
  readonly settings: TopicSettings
  readonly #parts: TopicParts
  #opened: Promise<void> | null = null

  constructor(parts: TopicParts) {
    this.name = parts.settings.name
    this.settings = parts.settings
    this.#parts = parts
  }

  /** Creates or checks the topic in its store; every other call does it first. */
  open(): Promise<void> {
    return this.#parts.gate.pass(() => this.#open())
  }

  /** Runs a call on the opened topic, unless the gate is closed. */
  #pass<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    return this.#parts.gate.pass(async () => {
      await this.#open()
      return call()
    })
  }

  #open(): Promise<void> {
    this.#opened ??= this.#parts.store.open(this.settings).catch((error: unknown) => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }

  /** Appends all events or none, durably. Events of one key share a partition and keep their order. */
  append(...events: NewEventInput[]): Promise<Appended[]>
  /** Appends them when your transaction commits; `tx` is a client of yours between BEGIN and COMMIT. */
  append(events: NewEventInput[], options: { tx: AnyTransaction }): Promise<Accepted>
  append(events: NewEventInput[], options?: { tx?: never }): Promise<Appended[]>
  async append(...given: unknown[]): Promise<Appended[] | Accepted> {
    const { events, options } = eventsOf(given)
    const checked = events.map((event) => this.#check(event))
    if ('tx' in options) return this.#arrive(options.tx, checked)
    const appended = await this.#pass(() => this.#parts.store.append(this.name, checked))
    this.#parts.telemetry.emit('log.appended', { topic: this.name, events: appended.length })
    return appended
  }

  async #arrive(given: AnyTransaction | undefined, events: NewEvent[]): Promise<Accepted> {
    const { arrivals } = this.#parts
    const tx = transactionOf(given)
    if (arrivals === null) throw refuseTransaction()
    await this.#pass(() => arrivals.append(tx, this.name, events))
    return { result: 'accepted' }
  }

  #check(event: NewEventInput): NewEvent {
    checkOptions(event, EVENT)
    const key = checkKey(event.key)
    return {
      id: event.id === undefined ? this.#parts.clock.id() : checkKey(event.id, 'id'),
      key,
      partition: partitionOf(key, this.settings.partitions),
      value: checkPayload(event.value, 'value') ?? 'null',
      headers: checkPayload(event.headers, 'headers') ?? null,
    }
  }

  /** Events of a partition from an offset on, fewer than `limit` if they are large; `next` is where to go on. */
  async read(
    partition: number,
    from = 0,
    limit = 100,
  ): Promise<{ events: EventView<Value>[]; next: number }> {
    refuseSurplus(arguments.length, { form: 'topic.read(partition, from, limit)', takes: 3 })
    if (!Number.isSafeInteger(partition) || partition < 0)
      throw badRead('partition', partition, 'a whole number from 0 on')
    if (!Number.isSafeInteger(from) || from < 0) throw badRead('from', from, 'a whole number from 0 on')
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_EVENTS) {
      throw badRead('limit', limit, `a whole number from 1 to ${MOST_EVENTS}`)
    }
    const request = { from: [{ partition, offset: from }], limit, maxBytes: MOST_BYTES }
    const { events } = await this.#pass(() => this.#parts.store.read(this.name, request))
    return { events: events.map((event) => viewEvent<Value>(event)), next: from + events.length }
  }

  /** The topic with the bounds of each partition. */
  status(): Promise<TopicStatus> {
    return this.#pass(() => this.#parts.store.topic(this.name))
  }
}

/** Events one by one, or as a list, and then perhaps with options. */
function eventsOf(given: readonly unknown[]): { events: NewEventInput[]; options: { tx?: AnyTransaction } } {
  const [first, options = {}] = given
  if (!Array.isArray(first)) return { events: given as NewEventInput[], options: {} }
  checkOptions(options, APPEND)
  refuseSurplus(given.length, { form: 'topic.append([…events], { tx })', takes: 2 })
  return { events: first as NewEventInput[], options: options as { tx?: AnyTransaction } }
}

export function viewEvent<Value>(event: LogEvent): EventView<Value> {
  return {
    partition: event.partition,
    offset: event.offset,
    id: event.id,
    key: event.key,
    value: JSON.parse(event.value) as Value,
    headers: event.headers === null ? null : (JSON.parse(event.headers) as Record<string, unknown>),
    time: new Date(event.time),
  }
}

function badRead(name: string, value: number, wanted: string): HeadraceError {
  return new HeadraceError('invalid_input', `${name} is ${describe(value)}`, { remedy: `give ${wanted}` })
}
