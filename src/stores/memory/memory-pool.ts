// What is held of one pool, in memory.
import { DEAD_FOR_MS } from '../../pool/settings.ts'
import type { Death } from '../../pool/settle.ts'
import type { PoolSettings, PutResponse } from '../../pool/store.ts'
import { MemoryEntries } from './entries.ts'
import { MemoryPayloads } from './payloads.ts'
import { Rests } from './rests.ts'

interface KeptAnswer {
  fingerprint: string
  response: PutResponse
  until: number
}

export interface MemoryPool {
  settings: Omit<PoolSettings, 'rememberMs' | 'deadForMs'>
  rememberMs: number
  deadForMs: number
  entries: MemoryEntries
  /** Fired slots that are still remembered, and until when. */
  fired: Map<string, { until: number }>
  rests: Rests
  /** Null: the latest payload alone is kept. */
  payloads: MemoryPayloads | null
  /** The newest first, each with its number. */
  deaths: { id: number; death: Death }[]
  answers: Map<string, KeptAnswer>
}

export function createPool(settings: PoolSettings): MemoryPool {
  const entries = new MemoryEntries()
  return {
    settings,
    rememberMs: 0,
    deadForMs: DEAD_FOR_MS,
    entries,
    payloads: settings.payloads === 'all' ? new MemoryPayloads(settings.name, entries) : null,
    fired: new Map(),
    rests: new Rests(),
    deaths: [],
    answers: new Map(),
  }
}
