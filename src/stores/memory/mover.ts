// Due entries become events in one synchronous step: read, append, settle.
import { tickEvent } from '../../pool/tick-event.ts'
import type { MoveRequest, Moved, Mover } from '../../store.ts'
import type { MemoryLog } from './log.ts'
import { type MemoryPools, earliest } from './pool.ts'

export function createMover(pools: MemoryPools, log: MemoryLog): Mover {
  return {
    async move({ pool: name, topic, limit }: MoveRequest): Promise<Moved> {
      const { partitions } = log.settingsOf(topic)
      const { now, entries } = pools.dueNow(name, limit)
      const events = entries.map(({ key, slot, next }) => {
        return tickEvent(name, { key, slot, dueAt: next.dueAt, payload: next.payload }, { now, partitions })
      })
      log.appendNow(topic, events, now)
      pools.fireNow(name, entries, now)
      const latenessMs = entries.map((entry) => now - entry.next.dueAt)
      return { count: entries.length, now, latenessMs, nextDueAt: earliest(pools.of(name)) }
    },
  }
}
