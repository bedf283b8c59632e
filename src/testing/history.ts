// Records what is asked of a store and what it answers, for check-history.ts. Several openings of one store
// may share a history. The order of answers is taken for the order of effects, so calls that speak of one key
// must not overlap; and the clock must stand still during a call, as a virtual one does.
import type { Clock } from '../clock.ts'
import type { LogEvent } from '../log/store.ts'
import type { Settlement } from '../pool/settle.ts'
import type {
  CancelAnswer,
  DeadStore,
  Entries,
  Mark,
  MarkAnswer,
  PoolSettings,
  PutRequest,
  PutResponse,
  Reschedule,
  RescheduleAnswer,
  SettleAnswer,
  Taken,
} from '../pool/store.ts'
import type { MoveRequest, Moved, Mover, Store } from '../store.ts'
import type { DeadCall } from './check-deaths.ts'
import { MANY } from './pool-driver.ts'

export type Call =
  | { call: 'open'; settings: PoolSettings }
  | { call: 'put'; pool: string; requests: PutRequest[]; responses: PutResponse[] }
  | { call: 'cancel'; pool: string; name: { key: string; slot?: number | null }; answer: CancelAnswer }
  | {
      call: 'reschedule'
      pool: string
      change: Reschedule
      answer: RescheduleAnswer
    }
  | DeadCall
  | { call: 'take'; pool: string; taken: Taken }
  | { call: 'settle'; pool: string; settlements: Settlement[]; answers: SettleAnswer[] }
  | { call: 'mark'; pool: string; marks: Mark[]; answers: MarkAnswer[] }
  /** `events` are those that the topic got since it was last looked at. */
  | { call: 'move'; pool: string; moved: Moved; events: LogEvent[] }
  /** The store went back, and what was recorded since is gone. Turns of before are lower than `least`. [G6] */
  | { call: 'went-back'; least: number }

export type HistoryRecord = Call & {
  /** The store's time. */
  now: number
}

export class History {
  records: HistoryRecord[] = []
  readonly #clock: Clock
  /** The next offset to look at, by topic and partition. */
  readonly #heads = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The same store, with every call of its pool and mover recorded. */
  wrap(store: Store): Store {
    return {
      address: store.address,
      pool: {
        ...store.pool,
        entries: this.#entries(store.pool.entries),
        dead: this.#dead(store.pool.dead),
      },
      log: store.log,
      mover: this.#mover(store),
      fences: store.fences,
      roster: store.roster,
      locks: store.locks,
      pulse: (request) => store.pulse(request),
      arrivals: store.arrivals,
      inspect: () => store.inspect(),
      watch: (listener) => store.watch(listener),
      close: () => store.close(),
    }
  }

  /** Takes what was recorded; what is answered is called when the store went back to the state of now. */
  snapshot(): (least: number) => void {
    const { length } = this.records
    const heads = [...this.#heads]
    return (least) => {
      const opened = this.records.slice(length).filter(({ call }) => call === 'open')
      this.records = [...this.records.slice(0, length), ...opened]
      this.#heads.clear()
      for (const [name, head] of heads) this.#heads.set(name, head)
      this.#record({ call: 'went-back', least })
    }
  }

  #record(call: Call): void {
    this.records.push({ ...call, now: this.#clock.now() })
  }

  #entries(entries: Entries): Entries {
    return {
      open: async (settings) => {
        await entries.open(settings)
        this.#record({ call: 'open', settings })
      },
      put: async (pool, requests) => {
        const responses = await entries.put(pool, requests)
        this.#record({ call: 'put', pool, requests, responses })
        return responses
      },
      cancel: async (pool, name) => {
        const answer = await entries.cancel(pool, name)
        this.#record({ call: 'cancel', pool, name, answer })
        return answer
      },
      reschedule: async (pool, change) => {
        const answer = await entries.reschedule(pool, change)
        this.#record({ call: 'reschedule', pool, change, answer })
        return answer
      },
      take: async (pool, request) => {
        const taken = await entries.take(pool, request)
        this.#record({ call: 'take', pool, taken })
        return taken
      },
      settle: async (pool, settlements, claim) => {
        const answers = await entries.settle(pool, settlements, claim)
        this.#record({ call: 'settle', pool, settlements, answers })
        return answers
      },
      mark: async (pool, marks, claim) => {
        const answers = await entries.mark(pool, marks, claim)
        this.#record({ call: 'mark', pool, marks, answers })
        return answers
      },
    }
  }

  /** Nothing that is watched lasts so long that it is purged. */
  #dead(dead: DeadStore): DeadStore {
    return {
      ...dead,
      redrive: async (pool, ids) => {
        const records = await dead.list(pool, { limit: MANY })
        const answer = await dead.redrive(pool, ids)
        this.#record({ call: 'redrive', pool, ids, records, answer })
        return answer
      },
      remove: async (pool, ids) => {
        const records = await dead.list(pool, { limit: MANY })
        const answer = await dead.remove(pool, ids)
        this.#record({ call: 'remove', pool, ids, records, answer })
        return answer
      },
    }
  }

  #mover(store: Store): Mover {
    return {
      move: async (request: MoveRequest) => {
        const moved = await store.mover.move(request)
        const events = await this.#newEvents(store, request.topic)
        this.#record({ call: 'move', pool: request.pool, moved, events })
        return moved
      },
    }
  }

  async #newEvents(store: Store, topic: string): Promise<LogEvent[]> {
    const events: LogEvent[] = []
    for (const { partition, head } of (await store.log.topic(topic)).bounds) {
      const name = `${topic}/${partition}`
      const from = this.#heads.get(name) ?? 0
      const request = { from: [{ partition, offset: from }], limit: MANY, maxBytes: Infinity }
      if (head > from) events.push(...(await store.log.read(topic, request)).events)
      this.#heads.set(name, Math.max(head, from))
    }
    return events
  }
}
