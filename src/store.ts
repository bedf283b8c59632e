// A store as a whole: its ports, one pulse, and hints. Opened by stores/open.ts.
import type { Clock } from './clock.ts'
import type { Faults } from './fault.ts'
import type { LogStore } from './log/store.ts'
import type { PoolStore } from './pool/store.ts'
import type { Telemetry } from './telemetry.ts'

export interface MoveRequest {
  pool: string
  topic: string
  /** The most ticks to move. */
  limit: number
}

export interface Moved {
  /** How many moved; as many as `limit` means that more may be due. */
  count: number
  /** The store's clock in the moving transaction: the time of the events. */
  now: number
  /** Of each moved tick: now minus its dueAt. */
  latenessMs: number[]
  /** When the next tick is due; null: none waits. */
  nextDueAt: number | null
}

/** Due entries become events of a topic in one transaction: exactly once. A store has it or has not. */
export interface Mover {
  /** Moves due entries in due order per partition, none before its dueAt by the store's clock. [T1–T5] */
  move(request: MoveRequest): Promise<Moved>
}

export interface Pulse {
  now: number
  /** When each pool's next entry is due; null: none. */
  nextDueAt: ReadonlyMap<string, number | null>
  /** Why the store lately refused writes though it answers reads, such as a full disk; null: it did not. */
  refusal: string | null
}

/** Something changed. Hints may be lost, repeated or wrong; nothing may depend on one. */
export type Hint =
  | { kind: 'put'; pool: string; dueAt: number }
  | { kind: 'appended'; topic: string }
  /** Another process wrote to the store. */
  | { kind: 'foreign' }

export interface Store {
  /** The address without secrets. */
  readonly address: string
  readonly pool: PoolStore
  readonly log: LogStore
  readonly mover: Mover
  /** One call that tells what a member must know twice a second, and lets the store keep house. [D4] */
  pulse(): Promise<Pulse>
  /** Calls back on hints until the returned function is called. */
  watch(listener: (hint: Hint) => void): () => void
  /** Lets what is under way end; harmless when repeated. */
  close(): Promise<void>
}

/** What a store is handed from outside. */
export interface StoreContext {
  clock: Clock
  telemetry: Telemetry
  faults: Faults
}
