// Checks the promises [P1] to [P4], and that ticks move once and never early, on a recorded history. What must be answered
// is computed, by the clock that stood outside of the store. One pass; answers a sentence for every violation.
import type { Entry } from '../pool/entry.ts'
import { type MovedTick, PoolCheck } from './check-pool.ts'
import type { HistoryRecord } from './history.ts'

export interface FinalState {
  /** Every entry that each pool holds at the end. */
  entries: ReadonlyMap<string, readonly Entry[]>
}

export function checkHistory(records: readonly HistoryRecord[], final: FinalState): string[] {
  return judgeHistory(records, final).violations
}

/** Also answers what moved, by the record of the move. */
export function judgeHistory(
  records: readonly HistoryRecord[],
  final: FinalState,
): { violations: string[]; moved: Map<HistoryRecord, MovedTick[]> } {
  const pools = new Map<string, PoolCheck>()
  const of = (name: string): PoolCheck => {
    const pool = pools.get(name)
    if (pool === undefined) throw new Error(`the history of ${name} does not begin with its open`)
    return pool
  }
  for (const record of records) {
    if (record.call === 'went-back') {
      for (const pool of pools.values()) pool.leastTurn = record.least
      continue
    }
    if (record.call !== 'open') {
      of(record.pool).replay(record)
      continue
    }
    const { name, rememberMs } = record.settings
    const pool = pools.get(name) ?? new PoolCheck(record.settings)
    pool.rememberMs = rememberMs ?? pool.rememberMs
    pool.rests.throttleMs = record.settings.throttleMs ?? pool.rests.throttleMs
    pools.set(name, pool)
  }
  for (const [name, pool] of pools) pool.finish(final.entries.get(name) ?? [])
  const all = [...pools.values()]
  return {
    violations: all.flatMap(({ violations }) => violations),
    moved: new Map(all.flatMap(({ moved }) => [...moved])),
  }
}
