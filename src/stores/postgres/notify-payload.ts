// The text of a notification between processes. Anybody who may connect to the database can send one, so it is checked: a
// text that is no such payload holds no hint.
import type { Hint } from '../../store.ts'

export interface NotifyPayload {
  /** The opening that sends it. */
  from: string
  puts: [pool: string, dueAt: number][]
  topics: string[]
  /** Pools whose control was written. */
  controls: string[]
  roster: boolean
}

/** The hints of a payload; none of the process itself, and none of what is not understood. */
export function readNotifyPayload(text: string, self: string): Hint[] {
  const letter = parse(text)
  if (letter === null || letter['from'] === self) return []
  const puts = listOf(letter['puts']).flatMap((each): Hint[] => {
    const [pool, dueAt] = listOf(each)
    return typeof pool === 'string' && Number.isSafeInteger(dueAt)
      ? [{ kind: 'put', pool, dueAt: dueAt as number }]
      : []
  })
  const appended = listOf(letter['topics']).flatMap((topic): Hint[] =>
    typeof topic === 'string' ? [{ kind: 'appended', topic }] : [],
  )
  const controls = listOf(letter['controls']).flatMap((pool): Hint[] =>
    typeof pool === 'string' ? [{ kind: 'control', pool }] : [],
  )
  return [
    ...puts,
    ...appended,
    ...controls,
    ...(letter['roster'] === true ? [{ kind: 'roster' } as const] : []),
  ]
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
