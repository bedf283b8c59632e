// Reads server-sent events from text in pieces of any size. Pure; connections are follow.ts's.

export interface ServerSentEvent {
  /** The last id so far, as the standard says: an event without one keeps it. */
  id: string | null
  /** Its name; null: it has none. */
  name: string | null
  /** Null: it only moves the id. */
  data: string | null
}

/** A line or event longer than this is no event of ours: values are at most 1 MiB. */
const LONGEST_EVENT = 4 * 1024 * 1024

export class SseReader {
  #rest = ''
  #data: string[] = []
  #name: string | null = null
  /** Counts once its event has ended: one that was cut off in the middle must be sent again. */
  #id: string | null

  constructor(lastId: string | null = null) {
    this.#id = lastId
  }

  /** The events that a piece ended. Comments and unknown fields are skipped. */
  take(piece: string): ServerSentEvent[] {
    const lines = (this.#rest + piece).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > LONGEST_EVENT) throw new Error(`an event longer than ${LONGEST_EVENT} characters`)
    const events: ServerSentEvent[] = []
    for (const line of lines) {
      const event = this.#line(line.endsWith('\r') ? line.slice(0, -1) : line)
      if (event !== null) events.push(event)
    }
    return events
  }

  #line(line: string): ServerSentEvent | null {
    if (line === '') return this.#end()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.#data.push(value)
    else if (field === 'id') this.#id = value
    else if (field === 'event') this.#name = value
    return null
  }

  #end(): ServerSentEvent {
    const data = this.#data.length === 0 ? null : this.#data.join('\n')
    const event = { id: this.#id, name: this.#name, data }
    this.#data = []
    this.#name = null
    return event
  }
}
