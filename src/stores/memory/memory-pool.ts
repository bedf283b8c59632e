// What is held of one pool, in memory.
import { DEAD_FOR_MS } from '../../pool/settings.ts'
import type { Death } from '../../pool/settle.ts'
import type { PoolSettings, PutResponse } from '../../pool/store.ts'
import { EntryIndex } from './entry-index.ts'
import { MemoryPayloads } from './payloads.ts'
import { RestingKeys } from './rests.ts'
import { keepMap } from './snapshots.ts'

interface KeptAnswer {
  fingerprint: string
  response: PutResponse
  until: number
}

export interface MemoryPool {
  settings: Omit<PoolSettings, 'rememberMs' | 'deadForMs'>
  rememberMs: number
  deadForMs: number
  entries: EntryIndex
  /** Fired slots that are still remembered, and until when. */
  fired: Map<string, { until: number }>
  rests: RestingKeys
  /** Null: the latest payload alone is kept. */
  payloads: MemoryPayloads | null
  /** The newest first, each with its number. */
  deaths: { id: number; death: Death }[]
  answers: Map<string, KeptAnswer>
}

export function createPool(settings: PoolSettings): MemoryPool {
  const entries = new EntryIndex()
  return {
    settings,
    rememberMs: 0,
    deadForMs: DEAD_FOR_MS,
    entries,
    payloads: settings.payloads === 'all' ? new MemoryPayloads(settings.name, entries) : null,
    fired: new Map(),
    rests: new RestingKeys(),
    deaths: [],
    answers: new Map(),
  }
}

/** The same pool, with nothing in it. */
export function emptied({ settings, rememberMs, deadForMs, rests }: MemoryPool): MemoryPool {
  const empty = { ...createPool({ ...settings, rememberMs }), deadForMs, rememberMs }
  empty.rests.throttleMs = rests.throttleMs
  return empty
}

/** Takes what a pool holds; its settings stay as it was last opened with. */
export function snapshotPool(pool: MemoryPool): () => void {
  const deaths = [...pool.deaths]
  const { entries, rests, payloads, fired, answers } = pool
  const kept = [entries.snapshot(), rests.snapshot(), keepMap(fired), keepMap(answers)]
  if (payloads !== null) kept.push(payloads.snapshot())
  return () => {
    for (const goBack of kept) goBack()
    pool.deaths = [...deaths]
  }
}
