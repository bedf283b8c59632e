// Why a key does not run yet: one reason of a closed list, from evidence that others gathered. Pure. Rules [I8] and [I9] of
// docs/spec/meter.md.
import { askElsewhere, keyArgument, shellWord } from './commands.ts'
import type { EntryEvidence, Evidence } from './evidence.ts'
import type { AskedState, KeySight } from './work-meter.ts'

/** Every reason there is, in API, command line and dashboard. */
export const REASONS = [
  'not_due',
  'pool_full',
  'rate_limited',
  'paused',
  'waiting_key',
  'backing_off',
  'partition_unowned',
  'partition_moving',
  'no_consumer',
  /** Of flows: nothing asks for more. */
  'no_demand',
  'store_slow',
  'node_draining',
  /** Of calendars: not at this hour. */
  'window_closed',
  'unknown',
] as const
export type Reason = (typeof REASONS)[number]

export interface Why {
  state: AskedState
  /** Null: it is not kept waiting. It runs, is dead, or not there. */
  reason: Reason | null
  sentence: string
  /** What the reason goes by. */
  evidence: Readonly<Record<string, unknown>>
  /** What can be done about it; null: nothing need be, or is known. */
  next: string | null
  /** What else would keep it waiting. */
  also: Reason[]
}

export interface Found {
  reason: Reason
  sentence: string
  evidence: Readonly<Record<string, unknown>>
  next: string | null
}

/** A call that is slower means that everything waits for the store. */
export const SLOW_CALL_MS = 1000

export function why(asked: Evidence): Why {
  const { entry, worker } = asked
  if (entry === null) return atRest('absent', 'there is no such entry: it was never put, or is done', null)
  if (entry.state === 'dead') {
    const see = `see why: headrace pool dead ${asked.pool} ${keyArgument(asked.key)}`
    return atRest('dead', 'it was given up', see)
  }
  const isDue = entry.state === 'due'
  if (isDue && worker !== null && runsWell(entry, worker.sight)) return underWay(worker.sight)
  const found = [
    ...(isDue ? [] : [later(entry)]),
    ...(isDue ? DUE : AHEAD).flatMap((look) => look(asked) ?? []),
  ]
  const [first = unknown(asked), ...rest] = found
  const also = new Set(rest.map(({ reason }) => reason))
  also.delete(first.reason)
  return { state: entry.state, ...first, also: [...also] }
}

type Look = (asked: Evidence) => Found | null

/** In the order of what must change first. */
const DUE: readonly Look[] = [
  paused,
  waitingKey,
  noConsumer,
  unowned,
  draining,
  slow,
  moving,
  crowdedOut,
  limited,
  full,
  behind,
]
/** What will matter once it is due. */
const AHEAD: readonly Look[] = [paused, noConsumer, unowned]

function atRest(
  state: AskedState,
  sentence: string,
  next: string | null,
  evidence: Why['evidence'] = {},
): Why {
  return { state, reason: null, sentence, evidence, next, also: [] }
}

function runsWell({ slot }: EntryEvidence, sight: KeySight | null): sight is KeySight {
  if (sight === null || sight.phase === 'waiting' || sight.aborted !== null) return false
  return sight.phase === 'settling' || sight.slot === slot
}

function underWay({ phase, forMs, attempt }: KeySight): Why {
  if (phase === 'settling') {
    return atRest('running', 'its handler has ended, and the store has not answered its settle yet', null)
  }
  return atRest('running', `its handler runs, in attempt ${attempt}`, null, {
    attempt,
    runsForMs: Math.round(forMs),
  })
}

function later({ state, dueAt, attempt, lastError }: EntryEvidence): Found {
  if (state === 'backing-off') {
    return {
      reason: 'backing_off',
      sentence: `it failed ${attempt === 1 ? 'once' : `${attempt} times`} and waits to be tried again`,
      evidence: { until: dueAt, attempt, lastError },
      next: null,
    }
  }
  return { reason: 'not_due', sentence: 'it is not due yet', evidence: { dueAt }, next: null }
}

function paused({ pool, paused: pause }: Evidence): Found | null {
  if (pause === null) return null
  const by = pause.by === null ? '' : ` by ${pause.by}`
  const because = pause.reason === null ? '' : `: ${pause.reason}`
  return {
    reason: 'paused',
    sentence: `its pool is paused${by}${because}`,
    evidence: { ...pause },
    next: `headrace pool resume ${pool}`,
  }
}

/** Another run of the key is under way, or one that was aborted goes on, on the member that owns it. [I9] */
function waitingKey(asked: Evidence): Found | null {
  const { worker, entry, partition } = asked
  const sight = partition?.isHere === false ? null : (worker?.sight ?? null)
  if (sight === null || sight.phase === 'waiting') return null
  const { slot, forMs, aborted } = sight
  const evidence = { slot, runsForMs: Math.round(forMs), aborted }
  if (aborted !== null) {
    return {
      reason: 'waiting_key',
      sentence: `a run of this key was aborted (${aborted}) and its handler has not ended: nothing of the key starts before`,
      evidence,
      next: `have the handler heed ctx.signal; a restart of ${memberOf(asked)} ends it`,
    }
  }
  if (slot === entry?.slot) return null
  return { reason: 'waiting_key', sentence: 'another run of this key is under way', evidence, next: null }
}

function noConsumer({ partition, pool, isTicks }: Evidence): Found | null {
  if (partition === null || partition.servers > 0) return null
  const calls = isTicks ? `race.ticks('${pool}')` : `race.work() for the pool ${pool}`
  return {
    reason: 'no_consumer',
    sentence: isTicks ? 'no member moves the ticks of this pool' : 'no member works on this pool',
    evidence: { servers: 0 },
    next: isTicks
      ? `start a member that joins: headrace serve, or a process that calls ${calls}`
      : `start a process that calls ${calls}`,
  }
}

function unowned({ partition, entry }: Evidence): Found | null {
  if (partition === null || partition.servers === 0) return null
  const { owner, isHere } = partition
  // This very member is not silent: it is the store that does not hear it.
  if (owner !== null && (!owner.silent || isHere)) return null
  return {
    reason: 'partition_unowned',
    sentence:
      owner === null
        ? 'nobody owns its partition yet'
        : `the owner of its partition, ${owner.name}, has said nothing for more than a lease`,
    evidence: { partition: entry?.partition ?? null, owner: owner?.name ?? null },
    next: 'the leader gives it to another within seconds; if it lasts: headrace doctor',
  }
}

function draining({ partition, worker, entry }: Evidence): Found | null {
  const owner = partition?.owner ?? null
  const stopsHere = worker?.isStopping === true && partition?.isHere !== false
  const isStopping = stopsHere || owner?.stopping === true
  if (owner?.draining !== true && !isStopping) return null
  return {
    reason: 'node_draining',
    sentence: `the owner of its partition, ${owner?.name ?? 'this member'}, ${isStopping ? 'stops' : 'drains'} and starts nothing new`,
    evidence: {
      partition: entry?.partition ?? null,
      owner: owner?.name ?? null,
      next: partition?.next ?? null,
    },
    next: isStopping || owner === null ? null : `headrace roster undrain ${shellWord(owner.name)}`,
  }
}

function moving({ partition, worker, entry }: Evidence): Found | null {
  if (partition === null || partition.owner === null) return null
  const isArriving = partition.isHere && worker !== null && !worker.holds
  if (partition.next === null && !isArriving) return null
  return {
    reason: 'partition_moving',
    sentence: isArriving
      ? `its partition is being taken over by ${partition.owner.name}`
      : `its partition is on its way from ${partition.owner.name} to ${partition.next}`,
    evidence: { partition: entry?.partition ?? null, owner: partition.owner.name, next: partition.next },
    next: null,
  }
}

function slow({ store, partition }: Evidence): Found | null {
  const { p99Ms, pulseAgeMs, leaseMs, isFailing, isTrusted } = store
  const isDoubtful = !isTrusted && partition?.isHere === true
  const isSlow = pulseAgeMs > leaseMs || (p99Ms !== null && p99Ms > SLOW_CALL_MS)
  if (!isSlow && !isFailing && !isDoubtful) return null
  return {
    reason: 'store_slow',
    sentence: isFailing || isDoubtful ? 'the store does not answer as it should' : 'the store is slow',
    evidence: { p99Ms, pulseAgeMs: Math.round(pulseAgeMs), isFailing, isTrusted },
    next: 'see whether the store is up and not overloaded: headrace doctor',
  }
}

/** What is due is read in pages, where the server passes many removed rows. [X48] */
function behind({ store, worker }: Evidence): Found | null {
  if (store.behind === null || worker === null || !worker.holds || worker.sight !== null) return null
  const { holder, remedy } = store.behind
  const because = holder === null ? 'the store passes many removed rows' : holder
  return {
    reason: 'store_slow',
    sentence: `its worker has not read all that is due yet: ${because}`,
    evidence: { holder },
    next: remedy ?? 'wait, or see what keeps the store busy: headrace doctor',
  }
}

function limited(asked: Evidence): Found | null {
  const { limit, pool } = asked
  if (limit === null) return null
  const isRate = limit.kind === 'rate'
  const per = limit.perMs === null ? '' : ` in ${limit.perMs} ms`
  const may = isRate ? `may start ${limit.limit}${per}` : `may run ${limit.limit} at once`
  const { share } = limit
  const isWhole = share === null || share >= limit.limit
  const used = isWhole
    ? `, and ${isRate ? 'has' : 'does'}`
    : share === 0
      ? `, and ${memberOf(asked)} has no share of it now`
      : `; the share of it that ${memberOf(asked)} has, ${share}, is used`
  return {
    reason: isRate ? 'rate_limited' : 'pool_full',
    sentence: `the ${limit.scope} ${may}${used}`,
    evidence: { ...limit },
    next: `headrace pool limits ${pool}`,
  }
}

/** A run that may end its process has the member to itself, or waits for that. [X45] */
function crowdedOut(asked: Evidence): Found | null {
  const { worker, key, pool } = asked
  const alone = worker?.holds === true ? worker.alone : null
  if (alone === null) return null
  const isIt = alone.key === key && alone.pool === pool
  return {
    reason: 'pool_full',
    sentence: isIt
      ? `it was in two crashes, and waits until it has ${memberOf(asked)} to itself`
      : `a run that was in two crashes, ${alone.key} of ${alone.pool}, has ${memberOf(asked)} to itself: nothing else starts`,
    evidence: { alone },
    next: isIt
      ? null
      : `wait for its end, or cancel it: headrace pool cancel ${alone.pool} ${keyArgument(alone.key)}`,
  }
}

function full(asked: Evidence): Found | null {
  const { worker, pool } = asked
  if (worker === null || !worker.holds || worker.running < worker.concurrency) return null
  const { running, concurrency, waiting } = worker
  return {
    reason: 'pool_full',
    sentence: `all ${concurrency} handlers of ${memberOf(asked)} are busy`,
    evidence: { running, concurrency, waiting },
    next: `give the worker of ${pool} more concurrency, or start another member`,
  }
}

/** The process that was asked does not know: what the owner has in its memory, it alone can tell. */
function unknown(asked: Evidence): Found {
  const { partition, worker } = asked
  const owner = partition?.owner ?? null
  const isElsewhere = owner !== null && partition?.isHere === false
  const address = owner?.address ?? null
  return {
    reason: 'unknown',
    sentence: isElsewhere
      ? `it is due, and ${owner.name} owns its partition: that member knows more`
      : 'it is due, and nothing that is known keeps it waiting',
    evidence: { owner: owner?.name ?? null, address, waiting: worker?.waiting ?? null },
    next: isElsewhere ? askElsewhere(asked, address) : 'ask again in a moment',
  }
}

/** The name of the member that answers, whoever passes its answer on. */
function memberOf({ partition }: Evidence): string {
  return (partition?.isHere === true ? partition.owner?.name : null) ?? 'this member'
}
