// Seeded random operations on three pools and a topic, chosen so that every cell of the put table and of the
// settle table comes up. Times lie around the clock; far ones reach whatever a store does with old entries.
import type { Lane, OnConflict } from '../pool/entry.ts'
import type { Put } from '../pool/merge.ts'
import type { Outcome } from '../pool/settle.ts'
import type { EntryQuery, PoolSettings } from '../pool/store.ts'
import { asPut } from './pool-driver.ts'
import type { Random } from '../random.ts'

export type PoolKind = 'work' | 'ticks' | 'solo'

/** `work` is taken and settled, `ticks` and `solo` (mode one, throttled) are also moved to the topic. */
export const POOLS: Record<PoolKind, Omit<PoolSettings, 'name'>> = {
  work: { mode: 'one', partitions: 3, rememberMs: 0 },
  ticks: { mode: 'each', partitions: 3, rememberMs: 500 },
  solo: { mode: 'one', partitions: 2, rememberMs: 0, throttleMs: 300 },
}

export type Operation =
  | { kind: 'put'; pool: PoolKind; puts: Put[]; repeat: { id: string; fingerprint: string } | null }
  | { kind: 'cancel'; pool: PoolKind; key: string; slot?: number | null }
  | { kind: 'reschedule'; pool: PoolKind; key: string; slot: number | null; at: number }
  | { kind: 'take'; pool: PoolKind; lane: Lane; partitions: number[] | null; limit: number | null }
  /** Settles the run that was taken last, or once more one that has settled: the `stale`th last. */
  | { kind: 'settle'; pool: PoolKind; stale: number | null; outcome: Outcome }
  | { kind: 'move'; pool: 'ticks' | 'solo'; limit: number }
  | { kind: 'list'; pool: PoolKind; query: EntryQuery }
  | { kind: 'count'; pool: PoolKind }
  | { kind: 'pulse' }
  | { kind: 'reopen' }
  | { kind: 'advance'; ms: number }

const KEYS = ['a', 'é€𝄞', '__proto__']
const AWAY_MS = [-90_000, -1, 0, 0, 0, 1, 5, 50, 1000, 70_000, 200_000]
const IN_MS = [0, 1, 5, 50, 1000]
const BACK_MS = [-5, 0, 5, 50, 50, 1000, 80_000]
const STEPS_MS = [0, 1, 1, 1, 4, 4, 4, 50, 50, 50, 500, 11_000, 80_000]
const RULES: OnConflict[] = ['earliest', 'replace', 'keep']
const LANES: Lane[] = ['normal', 'normal', 'normal', 'normal', 'normal', 'bulk']
const PAYLOADS = [undefined, '1', '"two"', 'null', '{"n":  3}']
const POOL_KINDS: PoolKind[] = ['work', 'ticks', 'solo']

/** How often each kind comes up, of the sum of all. */
const WEIGHTS: [Operation['kind'], number][] = [
  ['put', 30],
  ['take', 10],
  ['settle', 40],
  ['advance', 12],
  ['move', 4],
  ['cancel', 3],
  ['reschedule', 5],
  ['list', 4],
  ['count', 2],
  ['pulse', 3],
  ['reopen', 1],
]

/** How many times of puts are remembered, so that later operations meet the same slots. */
const RECENT = 3

/** Answers a function that chooses the next operation. */
export function createOperations(random: Random): (now: number) => Operation {
  // Most of a run happens in one pool, so that its entries get a long life.
  const focus = random.pick(POOL_KINDS)
  const recent: number[] = []
  const away = (now: number): number => {
    const known = random.below(2) === 0 ? random.pick(recent) : undefined
    const at = known ?? now + random.pick(AWAY_MS)
    if (known === undefined) recent.push(at)
    if (recent.length > RECENT) recent.shift()
    return at
  }
  const pool = (): PoolKind => (random.below(4) > 0 ? focus : random.pick(POOL_KINDS))
  return (now) => chooseOperation(random, pool(), { now, away, recent })
}

interface Time {
  now: number
  /** A moment around now, often one that was chosen before. */
  away(now: number): number
  /** Those that were chosen lately. */
  recent: readonly number[]
}

function chooseOperation(random: Random, pool: PoolKind, time: Time): Operation {
  const kind = chooseKind(random)
  const { now } = time
  const at = time.away(now)
  const key = random.pick(KEYS)
  const slot = POOLS[pool].mode === 'each' ? at : null
  switch (kind) {
    case 'put':
      return choosePut(random, pool, time)
    case 'cancel':
      return random.below(3) === 0 ? { kind, pool, key } : { kind, pool, key, slot }
    case 'reschedule':
      return { kind, pool, key, slot, at: otherSlot(random, time, slot) ?? time.away(now) }
    case 'take':
      return chooseTake(random, pool)
    case 'settle':
      return { kind, pool, stale: random.pick([null, null, null, 0, 2]), outcome: chooseOutcome(random, now) }
    case 'move':
      return { kind, pool: random.pick(['ticks', 'solo']), limit: random.pick([2, 1000]) }
    case 'list':
      return { kind, pool, query: chooseQuery(random, key, now) }
    case 'count':
      return { kind, pool }
    case 'advance':
      return { kind, ms: random.pick(STEPS_MS) }
    case 'pulse':
    case 'reopen':
      return { kind }
  }
}

/** Half the time a moment at which the key may have another entry. */
function otherSlot(random: Random, { recent }: Time, slot: number | null): number | undefined {
  const others = recent.filter((at) => at !== slot)
  return slot === null || others.length === 0 || random.below(2) === 0 ? undefined : random.pick(others)
}

function chooseKind(random: Random): Operation['kind'] {
  let left = random.below(WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [kind, weight] of WEIGHTS) {
    left -= weight
    if (left < 0) return kind
  }
  return 'pulse'
}

function choosePut(random: Random, pool: PoolKind, time: Time): Operation {
  const puts = Array.from({ length: random.pick([1, 1, 1, 1, 1, 3]) }, () => {
    const onConflict = random.pick(RULES)
    const bounded = onConflict === 'replace' && POOLS[pool].mode === 'one' && random.below(2) === 0
    const drawn = random.below(8)
    return asPut(random.pick(KEYS), {
      ...(drawn < 2 ? { at: null } : { at: time.away(time.now) }),
      ...(drawn === 1 ? { inMs: random.pick(IN_MS) } : {}),
      payload: random.pick(PAYLOADS),
      lane: random.pick(LANES),
      onConflict,
      ...(bounded ? { longestWaitMs: random.pick([3, 60]) } : {}),
    })
  })
  if (random.below(8) > 0) return { kind: 'put', pool, puts, repeat: null }
  const repeat = { id: `request-${random.below(4)}`, fingerprint: `print-${random.below(2)}` }
  return { kind: 'put', pool, puts, repeat }
}

function chooseTake(random: Random, pool: PoolKind): Operation {
  const partitions = random.pick([null, null, null, [0], [1, 2]])
  const limit = random.pick([null, null, null, null, 2])
  return { kind: 'take', pool, lane: random.pick(LANES), partitions, limit }
}

function chooseOutcome(random: Random, now: number): Outcome {
  const dueAt = now + random.pick(BACK_MS)
  switch (random.pick(['done', 'again', 'again', 'retry', 'retry', 'dead', 'dead', 'cancel'] as const)) {
    case 'done':
      return { kind: 'done' }
    case 'again':
      return { kind: 'again', dueAt }
    case 'retry':
      return { kind: 'retry', dueAt, error: random.pick([null, 'it broke', 'it broke again']) }
    case 'dead':
      return { kind: 'dead', reason: 'attempts', error: random.pick([null, 'it broke']) }
    case 'cancel':
      return { kind: 'cancel' }
  }
}

function chooseQuery(random: Random, key: string, now: number): EntryQuery {
  const query: EntryQuery = { limit: random.pick([1, 3, 100]) }
  if (random.below(3) === 0) query.key = key
  if (random.below(3) === 0) query.dueFrom = now + random.pick(AWAY_MS)
  if (random.below(3) === 0) query.dueBefore = now + random.pick(AWAY_MS)
  if (random.below(3) === 0) query.state = random.pick(['waiting', 'due', 'backing-off', 'dead'])
  return query
}
