// What a witness reads of a store, whichever it is.
import type { TopicEvent } from './check-ticks.ts'

export interface StoreContents {
  events: TopicEvent[]
  /** Names of the ticks that wait. */
  waiting: Set<string>
}

export interface StoreReader {
  /** The topic `ticks` and what waits for it, on one snapshot. */
  read(): Promise<StoreContents>
  /** Only what waits. */
  waiting(): Promise<Set<string>>
}
