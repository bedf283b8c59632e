// The events that this process appended last, per partition: most readers follow the head, and find them here rather
// than in the file. Only what is committed stands here; what others appended does not.
import type { LogEvent } from '../../log/store.ts'

/** The most of a topic: what a few hundred milliseconds bring at the highest rates. */
const MOST_EVENTS = 8192
const MOST_CHARACTERS = 4 * 1024 * 1024

interface Run {
  /** Without a gap, the oldest first. */
  events: LogEvent[]
  characters: number
}

export class RecentEvents {
  readonly #runs = new Map<number, Run>()
  readonly #partitions: number

  constructor(partitions: number) {
    this.#partitions = partitions
  }

  /** Adds an event that was committed. One that does not follow the last begins a new run. */
  add(event: LogEvent): void {
    let run = this.#runs.get(event.partition)
    if (run === undefined || event.offset !== (run.events.at(-1)?.offset ?? -1) + 1) {
      this.#runs.set(event.partition, (run = { events: [], characters: 0 }))
    }
    run.events.push(event)
    run.characters += charactersOf(event)
    const isLong = run.events.length * this.#partitions > MOST_EVENTS
    if (isLong || run.characters * this.#partitions > MOST_CHARACTERS) shorten(run)
  }

  /** The event at an offset; undefined: look in the file. */
  at(partition: number, offset: number): LogEvent | undefined {
    const events = this.#runs.get(partition)?.events
    return events?.[offset - (events[0]?.offset ?? 0)]
  }
}

/** Drops the older half at once, so that each event is moved about once. */
function shorten(run: Run): void {
  const dropped = run.events.splice(0, Math.ceil(run.events.length / 2))
  for (const event of dropped) run.characters -= charactersOf(event)
}

function charactersOf({ id, key, value, headers }: LogEvent): number {
  return id.length + key.length + value.length + (headers?.length ?? 0)
}
