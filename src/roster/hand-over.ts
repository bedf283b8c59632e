// Hands over what was revoked, when nothing of it is in flight any more. [A3] [H3]
import type { Ownership } from './ownership.ts'
import type { RosterParts } from './parts.ts'
import type { Allotment, Grant } from './store.ts'

export interface HandOverParts extends Pick<RosterParts, 'store' | 'telemetry' | 'drainWithinMs'> {
  /** The id under which this member is in the roster. */
  owner(): string
  /** Something could not be handed over yet: it is tried again with the next pulse. */
  unfinished(): void
}

export class HandOver {
  readonly #parts: HandOverParts
  readonly #underWay = new Set<Ownership>()

  constructor(parts: HandOverParts) {
    this.#parts = parts
  }

  /** Of the allotments that name this member as owner those that are revoked; one hand-over of a resource at a time. */
  async begin(ownership: Ownership, mine: readonly Allotment[]): Promise<void> {
    const leaving = new Set(ownership.leaving().map(({ partition }) => partition))
    const revoked = mine.filter(({ partition, next }) => next !== null && leaving.has(partition))
    if (revoked.length === 0) return
    if (this.#underWay.has(ownership)) {
      this.#parts.unfinished()
      return
    }
    this.#underWay.add(ownership)
    try {
      const partitions = revoked.map(({ partition }) => partition)
      await ownership.idle(partitions, this.#parts.drainWithinMs)
      ownership.send(revoked)
      await this.#grant(ownership, revoked)
    } finally {
      this.#underWay.delete(ownership)
    }
  }

  async #grant(ownership: Ownership, revoked: readonly Allotment[]): Promise<void> {
    const { store, telemetry } = this.#parts
    const grants = revoked.map(({ resource, partition, epoch, next }): Grant => {
      return { resource, partition, epoch, next, to: next as string }
    })
    try {
      const granted = await store.roster.grant(this.#parts.owner(), grants)
      const count = granted.filter(Boolean).length
      telemetry.emit('roster.granted', { resource: ownership.resource.name, partitions: count })
    } catch (error) {
      // Whether it was made is not known: it is repeated, never taken back.
      this.#parts.unfinished()
      telemetry.emit('roster.failed', { error })
    }
  }
}
