// The event that a tick becomes. Pure; every store that moves ticks calls it.
import { toIso } from '../clock.ts'
import type { NewEvent } from '../log/store.ts'
import { partitionOf } from '../partition.ts'

export interface DueTick {
  key: string
  /** The `at` asked for; null in mode `one`, where the dueAt stands for it. */
  slot: number | null
  dueAt: number
  payload: string | null
}

/**
 * The id is (pool, item, at): pool names hold no slash and `at` has none, so it reads back unambiguously.
 * A tick that fires again, after a repeated post, has the same id. [T3]
 */
export function tickEvent(pool: string, tick: DueTick, move: { now: number; partitions: number }): NewEvent {
  const at = toIso(tick.slot ?? tick.dueAt)
  const payload = tick.payload === null ? '' : `,"payload":${tick.payload}`
  return {
    id: `${pool}/${tick.key}/${at}`,
    key: tick.key,
    partition: partitionOf(tick.key, move.partitions),
    value: `{"item":${JSON.stringify(tick.key)},"at":"${at}"${payload}}`,
    headers: `{"lateMs":${move.now - tick.dueAt}}`,
  }
}
