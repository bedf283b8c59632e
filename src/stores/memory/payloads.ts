// The payloads of a pool that keeps them all, in memory; what a refused request did is undone.
import { type Entry, type TakenRun, entryName, takenRun } from '../../pool/entry.ts'
import {
  Full,
  NO_PAYLOADS,
  type PayloadLists,
  type PutInto,
  addPayload,
  settledPayloads,
  tooMuch,
  weigh,
} from '../../pool/payloads.ts'
import type { Death, Settled, Settlement } from '../../pool/settle.ts'
import type { PutResponse } from '../../pool/store.ts'
import type { EntryIndex } from './entry-index.ts'
import { keepMap } from './snapshots.ts'

export class MemoryPayloads {
  readonly #lists = new Map<string, PayloadLists>()
  readonly #pool: string
  readonly #entries: EntryIndex
  /** What was there before each put of the request that is under way. */
  #before: { name: string; entry: Entry | undefined; lists: PayloadLists }[] = []

  constructor(pool: string, entries: EntryIndex) {
    this.#pool = pool
    this.#entries = entries
  }

  of(name: string): PayloadLists {
    return this.#lists.get(name) ?? NO_PAYLOADS
  }

  set(name: string, lists: PayloadLists): void {
    if (lists.next.length + lists.after.length === 0) this.#lists.delete(name)
    else this.#lists.set(name, lists)
  }

  forget(name: string): void {
    this.#lists.delete(name)
  }

  /** Notes what a put will change, so that it can be undone. */
  begin(name: string): void {
    this.#before.push({ name, entry: this.#entries.get(name), lists: this.of(name) })
  }

  add(name: string, put: { key: string; payload: string | undefined }, did: PutInto): void {
    const lists = addPayload(this.of(name), put.payload, did)
    const most = put.payload === undefined || did.result === 'kept' ? null : tooMuch(weigh(lists))
    if (most !== null) throw new Full(put.key, most)
    this.set(name, lists)
  }

  /** Settles a run; answers what of its payloads is recorded with its death. */
  settle(
    name: string,
    settlement: Settlement,
    { before, settled, from }: { before: Entry; settled: Settled; from: number },
  ): Pick<Death, 'payloads'> {
    const { seenPayloads = 0 } = settlement
    const { next, after } = this.of(name)
    const became = settledPayloads({ before, now: settled.entry }, settlement, from)
    if (became === 'gone') this.set(name, NO_PAYLOADS)
    if (became === 'seen are gone') this.set(name, { next: next.slice(seenPayloads), after })
    if (became === 'those of after are next') this.set(name, { next: after, after: [] })
    return { payloads: next.slice(0, seenPayloads) }
  }

  snapshot(): () => void {
    return keepMap(this.#lists)
  }

  /** Applies a request whole, or not at all. */
  request(apply: () => PutResponse): PutResponse {
    this.#before = []
    try {
      return apply()
    } catch (error) {
      if (!(error instanceof Full)) throw error
      for (const { name, entry, lists } of this.#before.toReversed()) {
        if (entry === undefined) this.#entries.delete(name)
        else this.#entries.set(name, entry)
        this.set(name, lists)
      }
      return { kind: 'refused', pool: this.#pool, key: error.key, most: error.most }
    }
  }
}

/** The run of a due entry, with its payloads if they are all kept. */
export function takeFrom(payloads: MemoryPayloads | null, entry: Entry): TakenRun {
  const run = takenRun(entry)
  return payloads === null ? run : { ...run, payloads: payloads.of(entryName(entry.key, entry.slot)).next }
}
