// What was given up, in memory.
import type { Clock } from '../../clock.ts'
import { entryName } from '../../pool/entry.ts'
import { type Death, deathState, redrive } from '../../pool/settle.ts'
import type { DeadStore, DeathPayloads, DeathQuery, DeathRecord, RemovedDead } from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'
import type { MemoryPool } from './memory-pool.ts'
import type { MemoryPools } from './pools.ts'

export interface DeadParts {
  clock: Clock
  commit: Commit
  pools: MemoryPools
  hint: (hint: Hint) => void
}

export function createDead({ clock, commit, pools, hint }: DeadParts): DeadStore {
  return {
    list: async (name, query) =>
      pools
        .of(name)
        .deaths.map(({ id, death: { key, slot, group, seen, reason, error, diedAt } }) => {
          const state = deathState(pools.of(name).entries.get(entryName(key, slot)))
          return { id, key, slot, group, state, seen, reason, error, diedAt }
        })
        .filter((record) => isWanted(record, query))
        .sort((a, b) => b.diedAt - a.diedAt || b.id - a.id)
        .slice(0, query.limit),
    payloads: async (name, ids) => {
      const wanted = pools.of(name).deaths.filter(({ id }) => ids.includes(id))
      return new Map(wanted.map(({ id, death }) => [id, payloadsOf(death)]))
    },
    redrive: async (name, ids) =>
      commit('put', () => {
        const now = clock.now()
        const count = ids.filter((id) =>
          redriveOne(pools.of(name), id, { now, newTurn: pools.newTurn }),
        ).length
        if (count > 0) hint({ kind: 'put', pool: name, dueAt: now })
        return count
      }),
    remove: async (name, ids) => commit('put', () => remove(pools.of(name), ids)),
    purge: async (limit) =>
      commit('put', () => {
        const now = clock.now()
        let left = limit
        return pools.all().flatMap((pool) => {
          const old = pool.deaths.filter(({ death }) => death.diedAt <= now - pool.deadForMs)
          const ids = left === 0 ? [] : old.slice(-left).map(({ id }) => id)
          left -= remove(pool, ids).deaths
          return ids.length === 0 ? [] : [{ pool: pool.settings.name, deaths: ids.length }]
        })
      }),
  }
}

function payloadsOf({ payload, payloads }: Death): DeathPayloads {
  return payloads === undefined ? { payload } : { payload, payloads }
}

function isWanted({ id, key, diedAt }: DeathRecord, query: DeathQuery): boolean {
  const { after } = query
  return (
    (query.key === undefined || key === query.key) &&
    diedAt >= (query.from ?? -Infinity) &&
    diedAt < (query.before ?? Infinity) &&
    (after === undefined || diedAt < after.diedAt || (diedAt === after.diedAt && id < after.id))
  )
}

function redriveOne(pool: MemoryPool, id: number, step: { now: number; newTurn: () => number }): boolean {
  const found = pool.deaths.find((kept) => kept.id === id)
  if (found === undefined) return false
  const { key, slot } = found.death
  const newest = pool.deaths.find(({ death }) => death.key === key && death.slot === slot)
  const entry = pool.entries.get(entryName(key, slot))
  if (entry?.state !== 'dead' || newest !== found) return false
  pool.entries.set(entryName(key, slot), redrive(entry, step))
  return true
}

function remove(pool: MemoryPool, ids: readonly number[]): RemovedDead {
  const [gone, left] = [new Set(ids), pool.deaths.length]
  const removed = pool.deaths.filter(({ id }) => gone.has(id))
  pool.deaths = pool.deaths.filter(({ id }) => !gone.has(id))
  let entries = 0
  for (const { key, slot } of removed.map(({ death }) => death)) {
    const name = entryName(key, slot)
    if (pool.entries.get(name)?.state !== 'dead') continue
    if (pool.deaths.some(({ death }) => death.key === key && death.slot === slot)) continue
    pool.entries.delete(name)
    pool.rests.forget(name)
    pool.payloads?.forget(name)
    entries += 1
  }
  return { deaths: left - pool.deaths.length, entries }
}
