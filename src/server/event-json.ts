// An event as JSON text. Values are kept as JSON text and are embedded as they are, never parsed.
import { toIso } from '../clock.ts'
import type { LogEvent } from '../log/store.ts'

export function writeEvent(event: LogEvent): string {
  return `{${members(event)}}`
}

export function writeFollowedEvent(event: LogEvent): string {
  return `{"partition":${event.partition},${members(event)}}`
}

function members({ offset, id, key, value, headers, time }: LogEvent): string {
  const names = `"offset":${offset},"id":${JSON.stringify(id)},"key":${JSON.stringify(key)}`
  return `${names},"value":${value},"headers":${headers ?? 'null'},"time":"${toIso(time)}"`
}
