// What the server answers of its work, as JSON gives it. The server's openapi.json says the same.

/** Why a key does not run yet. */
export interface WhyView {
  /** Null: none was named, and none has the key. */
  pool: string | null
  key: string
  now: string
  state: 'waiting' | 'due' | 'backing-off' | 'dead' | 'running' | 'absent'
  /** Null: nothing keeps it waiting. */
  reason: string | null
  sentence: string
  evidence: Record<string, unknown>
  next: string | null
  also: string[]
  dueAt: string | null
  partition: number | null
  owner: { name: string; address: string | null } | null
  /** Where no pool was named: the others that have the key. */
  alsoIn: string[]
}

export interface VerdictView {
  status: 'unknown' | 'stuck' | 'failing' | 'busy' | 'ok'
  sentence: string
  findings: { check: string; status: VerdictView['status']; detail: string; remedy: string | null }[]
  /** What is well, and therefore not the cause. */
  not: string[]
}

export interface QuantilesView {
  count: number
  meanMs: number
  p50Ms: number
  p90Ms: number
  p99Ms: number
  maxMs: number
}

export interface MeterBucketView {
  at: string
  taken: number
  started: number
  finished: number
  again: number
  retried: number
  dead: number
  cancelled: number
  letGo: number
  coalescing: number | null
  collisions: { lost: number; refused: number; perSecond: number }
  steps: Record<'lateness' | 'delay' | 'wait' | 'run' | 'settle', QuantilesView | null>
}

export interface OverdueView {
  /** Null: it is not known. */
  count: number | null
  atLeast: boolean
  oldestMs: number | null
  unknown: string | null
}

/** A bucket in which something of a pool collided. */
export interface PoolCollisionsView {
  at: string
  lost: number
  refused: number
  fenced: number
  control: number
  perSecond: number
}

export interface PoolMeterView {
  pool: string
  running: number
  concurrency: number
  inFlight: number
  overdue: OverdueView
  paused: { by: string | null; reason: string | null; since: string; until: string | null } | null
  collisions: PoolCollisionsView[]
  lanes: { lane: 'fanout' | 'normal' | 'bulk'; overdue: OverdueView; buckets: MeterBucketView[] }[]
}

export interface MeterView {
  now: string
  member: string
  window: '1s' | '10s' | '60s'
  seconds: number
  pools: PoolMeterView[]
  store: { calls: number; p50Ms: number | null; p99Ms: number | null; maxMs: number | null }
  /** Of all that the member does. */
  collisions: (PoolCollisionsView & { roster: number; repeated: number })[]
}

/** What the stream of a server tells. */
export type StreamedView = { name: 'meter'; value: MeterView } | { name: 'verdict'; value: VerdictView }

export interface WhyQuery {
  /** Default: all pools. */
  pool?: string | undefined
  /** In a pool of mode `each`: the moment that was asked for. */
  at?: string | undefined
}

export interface MeterQuery {
  pool?: string | undefined
  lane?: 'fanout' | 'normal' | 'bulk' | undefined
  window?: '1s' | '10s' | '60s' | undefined
}
