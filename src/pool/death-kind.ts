// Deaths of one kind: the same reason and error but for numbers and ids. Pure. Rule [Z2] of docs/spec/pool.md.
import { createHash } from 'node:crypto'
import type { DeathRecord } from './store.ts'

export interface DeathKind {
  /** Names the kind: the same reason and error always have the same id. */
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
const NUMBER = /\d+/g
/** What an id may be a part of: matched as a whole, and judged by itself, so that each character is looked at a few times. */
const RUN = /[\w-]+/g
const LONG_ID = 16
const HEX_ID = /^[0-9a-f]{8,}$/i

/** What a text has in common with those that differ in numbers and ids only. */
function patternOf(text: string): string {
  const [line = ''] = text.slice(0, LONGEST_LINE).split('\n', 1)
  return line.replaceAll(UUID, '#').replaceAll(RUN, withoutIds).replaceAll(NUMBER, '#').trim()
}

/** Random ids have letters and digits mixed, and are long, or of hexadecimal digits only. */
function withoutIds(run: string): string {
  const start = run.search(/\w/)
  if (start === -1 || !/\d/.test(run)) return run
  if (run.length - start >= LONG_ID) return `${run.slice(0, start)}#`
  return run.replaceAll(/\w+/g, (part) => (HEX_ID.test(part) && /\d/.test(part) ? '#' : part))
}

/** `TypeError: no vm 17` → `TypeError: no vm #`. The name of the error stays as it is. */
function errorPattern(error: string): string {
  const [name = ''] = /^[A-Za-z_$][\w.$]*(?=:|\n|$)/.exec(error.slice(0, LONGEST_LINE)) ?? []
  return name + patternOf(error.slice(name.length, name.length + LONGEST_LINE))
}

export interface Pattern {
  id: string
  reason: string
  error: string | null
}

export function kindOf({ reason, error }: { reason: string; error: string | null }): Pattern {
  const like = { reason: patternOf(reason), error: error === null ? null : errorPattern(error) }
  const hash = createHash('sha256').update(JSON.stringify([like.reason, like.error]))
  return { id: hash.digest('hex').slice(0, 12), ...like }
}

/** Adds deaths, which come the newest first, to the kinds so far. */
export function addToKinds(kinds: Map<string, DeathKind>, deaths: readonly DeathRecord[]): void {
  for (const death of deaths) {
    const like = kindOf(death)
    const kind = kinds.get(like.id) ?? {
      ...like,
      count: 0,
      first: death.diedAt,
      last: death.diedAt,
      keys: [],
    }
    kind.count += 1
    kind.first = Math.min(kind.first, death.diedAt)
    kind.last = Math.max(kind.last, death.diedAt)
    if (kind.keys.length < SAMPLE_KEYS && !kind.keys.includes(death.key)) kind.keys.push(death.key)
    kinds.set(like.id, kind)
  }
}
