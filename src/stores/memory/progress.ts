// The progress that runs report, in memory.
import type { Clock } from '../../clock.ts'
import { poolResource } from '../../fence.ts'
import { entryName, holdsTurn } from '../../pool/entry.ts'
import { PROGRESS_FOR_MS, type ProgressStore } from '../../pool/store.ts'
import type { MemoryFences } from './fences.ts'
import type { MemoryPools } from './pools.ts'

export interface ProgressParts {
  clock: Clock
  pools: MemoryPools
  fences: MemoryFences
  /** By pool and entry, in the order of the reports. */
  kept: Map<string, KeptProgress>
}

export interface KeptProgress {
  turn: number
  progress: string
  toldAt: number
}

export function createProgress({ clock, pools, fences, kept }: ProgressParts): ProgressStore {
  const nameOf = (pool: string, key: string, slot: number | null): string =>
    `${pool}\0${entryName(key, slot)}`
  return {
    tell: async (pool, reports, claim) => {
      const held = fences.held(poolResource(pool), claim)
      const there = reports.filter(({ key, slot, turn }) => {
        const entry = pools.of(pool).entries.get(entryName(key, slot))
        return entry !== undefined && holdsTurn(entry, turn) && held.has(entry.partition)
      })
      for (const { key, slot, turn, progress } of there) {
        kept.delete(nameOf(pool, key, slot))
        kept.set(nameOf(pool, key, slot), { turn, progress, toldAt: clock.now() })
      }
      return there.length
    },
    read: async (pool, { key, slot }) => {
      const found = kept.get(nameOf(pool, key, slot))
      const entry = pools.of(pool).entries.get(entryName(key, slot))
      if (found === undefined || entry === undefined || !holdsTurn(entry, found.turn)) return null
      return { progress: found.progress, toldAt: found.toldAt }
    },
    sweep: async (limit) => {
      const until = clock.now() - PROGRESS_FOR_MS
      const old = [...kept].filter(([, { toldAt }]) => toldAt <= until).slice(0, limit)
      for (const [name] of old) kept.delete(name)
      return old.length
    },
  }
}
