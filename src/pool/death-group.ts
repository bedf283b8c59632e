// Deaths that are alike: the same reason and error but for numbers and ids. Pure. Rule [Z2] of docs/spec/pool.md.
import { createHash } from 'node:crypto'
import type { DeathRecord } from './store.ts'

export interface DeathGroup {
  /** Names the group: the same likeness has the same id, always. */
  id: string
  reason: string
  /** The first line of the error, `#` for each number and id; null: nothing was thrown. */
  error: string | null
  count: number
  first: number
  last: number
  /** Keys of the newest of them. */
  keys: string[]
}

const SAMPLE_KEYS = 5
/** Longer first lines are cut: what differs between errors of one place stands near their beginning. */
const LONGEST_LINE = 300

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
/** Random ids: letters and digits mixed, and long, or of hexadecimal digits only. */
const MIXED = /\b(?=[\w-]*\d)[\w-]{16,}|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi
const NUMBER = /\d+/g

/** What a text has in common with those that differ in numbers and ids only. */
function patternOf(text: string): string {
  const [line = ''] = text.slice(0, LONGEST_LINE).split('\n', 1)
  return line.replaceAll(UUID, '#').replaceAll(MIXED, '#').replaceAll(NUMBER, '#').trim()
}

/** `TypeError: no vm 17` → `TypeError: no vm #`. The name of the error stays as it is. */
function errorPattern(error: string): string {
  const [name = ''] = /^[A-Za-z_$][\w.$]*(?=:|\n|$)/.exec(error) ?? []
  return name + patternOf(error.slice(name.length))
}

export interface Likeness {
  id: string
  reason: string
  error: string | null
}

export function likenessOf({ reason, error }: { reason: string; error: string | null }): Likeness {
  const like = { reason: patternOf(reason), error: error === null ? null : errorPattern(error) }
  const hash = createHash('sha256').update(JSON.stringify([like.reason, like.error]))
  return { id: hash.digest('hex').slice(0, 12), ...like }
}

/** Adds deaths, which come the newest first, to the groups so far. */
export function addToGroups(groups: Map<string, DeathGroup>, deaths: readonly DeathRecord[]): void {
  for (const death of deaths) {
    const like = likenessOf(death)
    const group = groups.get(like.id) ?? {
      ...like,
      count: 0,
      first: death.diedAt,
      last: death.diedAt,
      keys: [],
    }
    group.count += 1
    group.first = Math.min(group.first, death.diedAt)
    group.last = Math.max(group.last, death.diedAt)
    if (group.keys.length < SAMPLE_KEYS && !group.keys.includes(death.key)) group.keys.push(death.key)
    groups.set(like.id, group)
  }
}
