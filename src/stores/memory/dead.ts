// What was given up, in memory.
import type { Clock } from '../../clock.ts'
import { entryName } from '../../pool/entry.ts'
import { redrive } from '../../pool/settle.ts'
import type { DeadStore } from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'
import type { MemoryPools } from './pool.ts'

export interface DeadParts {
  clock: Clock
  commit: Commit
  pools: MemoryPools
  hint: (hint: Hint) => void
}

export function createDead({ clock, commit, pools, hint }: DeadParts): DeadStore {
  return {
    redrive: async (pool, { key, slot }) =>
      commit('put', () => {
        const { entries } = pools.of(pool)
        const entry = entries.get(entryName(key, slot))
        if (entry?.state !== 'dead') return false
        const now = clock.now()
        entries.set(entryName(key, slot), redrive(entry, { now, newTurn: pools.newTurn }))
        hint({ kind: 'put', pool, dueAt: now })
        return true
      }),
    remove: async (name, { key, slot }) =>
      commit('put', () => {
        const pool = pools.of(name)
        if (pool.entries.get(entryName(key, slot))?.state !== 'dead') return false
        pool.entries.delete(entryName(key, slot))
        pool.rests.forget(entryName(key, slot))
        pool.payloads?.forget(entryName(key, slot))
        pool.deaths = pool.deaths.filter((death) => death.key !== key || death.slot !== slot)
        return true
      }),
  }
}
