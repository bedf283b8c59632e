// Reads server-sent events from text in pieces of any size. Pure; connections are follow.ts's.

export interface ServerSentEvent {
  /** The last id seen so far, as the standard says: an event without one keeps it. */
  id: string | null
  data: string
}

/** A line or event longer than this is no event of ours: values are at most 1 MiB. */
const LONGEST_EVENT = 4 * 1024 * 1024

export class SseReader {
  #rest = ''
  #data: string[] = []
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
    return null
  }

  #end(): ServerSentEvent | null {
    if (this.#data.length === 0) return null
    const event = { id: this.#id, data: this.#data.join('\n') }
    this.#data = []
    return event
  }
}
