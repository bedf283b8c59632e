// Due entries become events in one synchronous step: read, append, settle.
import { poolResource } from '../../fence.ts'
import { tickEvent } from '../../pool/tick-event.ts'
import type { MoveRequest, Moved, Mover } from '../../store.ts'
import type { Commit } from './commit.ts'
import type { MemoryFences } from './fences.ts'
import type { MemoryLog } from './log.ts'
import type { MemoryPools } from './pools.ts'

interface MoverParts {
  commit: Commit
  pools: MemoryPools
  log: MemoryLog
  fences: MemoryFences
}

export function createMover(parts: MoverParts): Mover {
  return { move: async (request) => parts.commit('move', () => move(parts, request)) }
}

function move({ pools, log, fences }: MoverParts, { pool: name, topic, limit, claim }: MoveRequest): Moved {
  const { partitions } = log.settingsOf(topic)
  const held = fences.held(poolResource(name), claim)
  const claimed = claim.held.map(({ partition }) => partition)
  const { now, entries } = pools.dueNow(name, held, limit)
  const events = entries.map(({ key, slot, next }) => {
    return tickEvent(name, { key, slot, dueAt: next.dueAt, payload: next.payload }, { now, partitions })
  })
  log.appendNow(topic, events, now)
  pools.fireNow(name, entries, now)
  return {
    count: entries.length,
    now,
    latenessMs: entries.map((entry) => now - entry.next.dueAt),
    nextDueAt: pools.nextDueAt(name, held),
    refused: claimed.filter((partition) => !held.has(partition)),
  }
}
