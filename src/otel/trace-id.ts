// Which trace a key's life is in: derived from its name alone, so that whoever puts, takes or settles it, in whichever
// process, tells of the same trace, and nothing has to travel with the entry. Decision 0015.
import { createHash } from 'node:crypto'

export interface LifeName {
  pool: string
  key: string
  /** Null in mode `one`. */
  slot: number | null
  /** Where every run has a trace of its own: the turn of the run. */
  turn?: number
}

export interface LifeIds {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits: the parent of all that has no other. */
  spanId: string
}

/** The ids of OpenTelemetry; neither is ever all zeros, which would be invalid. */
export function lifeIds({ pool, key, slot, turn }: LifeName): LifeIds {
  const name = [pool, key, slot ?? '', turn ?? ''].join('\0')
  const digest = createHash('sha256').update(name).digest()
  return { traceId: hex(digest, 0, 16), spanId: hex(digest, 16, 24) }
}

/** Whether a trace is among this share of all: the same answer in every process. */
export function isSampled(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < share * 2 ** 32
}

function hex(digest: Buffer, from: number, to: number): string {
  const text = digest.subarray(from, to).toString('hex')
  return /^0+$/.test(text) ? `${text.slice(0, -1)}1` : text
}
