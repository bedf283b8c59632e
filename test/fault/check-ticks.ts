// The checker: what was posted against what the topic and the pool hold. Pure, and outside the product: it
// believes the witness's record of requests and the rows of the file, nothing else.

/**
 * What became of a post, as a history records it: `ok` was answered 202; `fail` was refused, so it must not
 * have happened; `info` was never answered, or ambiguously, so it may have happened.
 */
export type Outcome = 'invoke' | 'ok' | 'fail' | 'info'

export interface Post {
  item: string
  at: number
  outcome: Outcome
}

export interface TopicEvent {
  partition: number
  offset: number
  id: string
  value: string
  /** The store's time in the transaction that moved the tick. */
  time: number
}

export interface Findings {
  /** Acknowledged, yet neither in the topic nor waiting. */
  lost: string[]
  /** In the topic before its time. */
  early: string[]
  /** Ids that stand more than once in the topic. */
  twice: string[]
  /** In the topic or waiting, though nobody posted it, or its post was refused. */
  phantom: string[]
  /** Partitions whose offsets do not run from 0 without a gap. */
  gaps: string[]
  /** Waiting, though its time has passed. */
  stuck: string[]
}

export interface Evidence {
  posts: Iterable<Post>
  events: readonly TopicEvent[]
  /** Names of ticks that wait in the pool. */
  waiting: ReadonlySet<string>
  /** The time up to which a waiting tick should have fired. */
  dueBefore: number
}

/** How a tick is named in findings, and the id of its event without the pool. */
export function nameOf({ item, at }: { item: string; at: number }): string {
  return `${item}/${new Date(at).toISOString()}`
}

export function checkTicks({ posts, events, waiting, dueBefore }: Evidence): Findings {
  const posted = new Map([...posts].map((post) => [nameOf(post), post]))
  const ticks = events.map((event) => ({ event, name: nameOfEvent(event) }))
  const inTopic = new Set(ticks.map(({ name }) => name))
  const mayExist = (name: string): boolean => (posted.get(name)?.outcome ?? 'fail') !== 'fail'
  return {
    lost: [...posted]
      .filter(([name, { outcome }]) => outcome === 'ok' && !inTopic.has(name) && !waiting.has(name))
      .map(([name]) => name),
    early: ticks.filter(({ event, name }) => event.time < atOf(name)).map(({ name }) => name),
    twice: repeated(events.map(({ id }) => id)),
    phantom: [...inTopic, ...waiting].filter((name) => !mayExist(name)),
    gaps: findGaps(events),
    stuck: [...waiting].filter((name) => atOf(name) < dueBefore),
  }
}

/** The findings in one line; empty when nothing is wrong. */
export function describeFindings(findings: Findings): string {
  return Object.entries(findings as unknown as Record<string, string[]>)
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${names.length} ${kind}: ${names.slice(0, 3).join(', ')}`)
    .join('; ')
}

/** The name by what the event says, unless its id says something else. */
function nameOfEvent({ id, value }: TopicEvent): string {
  const { item, at } = JSON.parse(value) as { item: string; at: string }
  const name = `${item}/${at}`
  return id === `ticks/${name}` ? name : id
}

function atOf(name: string): number {
  return Date.parse(name.slice(name.lastIndexOf('/') + 1))
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => seen.size === seen.add(name).size)
}

function findGaps(events: readonly TopicEvent[]): string[] {
  const byPartition = Map.groupBy(events, ({ partition }) => partition)
  return [...byPartition].flatMap(([partition, own]) => {
    const offsets = own.map(({ offset }) => offset).sort((a, b) => a - b)
    const first = offsets.findIndex((offset, index) => offset !== index)
    return first === -1 ? [] : [`partition ${partition} has ${offsets[first]} where ${first} should be`]
  })
}
