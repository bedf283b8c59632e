// Hands over what was revoked, when nothing of it is in flight any more. [A3] [H3]
import type { Held } from '../fence.ts'
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
      // What was granted anew meanwhile stays, and what runs there goes on. [A4]
      const epochs = new Map(ownership.leaving().map(({ partition, epoch }) => [partition, epoch]))
      const still = revoked.filter(({ partition, epoch }) => epochs.get(partition) === epoch)
      if (still.length === 0) return
      await this.#release(ownership, still)
      ownership.send(still)
      await this.#grant(ownership, still)
    } finally {
      this.#underWay.delete(ownership)
    }
  }

  /** Drops what is held, and waits until nothing of it is in flight: the member leaves. */
  async drain(ownership: Ownership): Promise<void> {
    const held = ownership.holding()
    ownership.drop()
    const partitions = held.map(({ partition }) => partition)
    await ownership.idle(partitions, this.#parts.drainWithinMs)
    await this.#release(ownership, held)
  }

  /** Says that nothing is under way, so that the next owner suspects nobody. [X43] */
  async #release(ownership: Ownership, held: readonly Held[]): Promise<void> {
    const { store, telemetry } = this.#parts
    if (ownership.concurrency === 0 || held.length === 0) return
    const claim = {
      owner: this.#parts.owner(),
      held: held.map(({ partition, epoch }) => ({ partition, epoch })),
    }
    try {
      await store.fences.release(ownership.resource.name, claim)
    } catch (error) {
      // It suspects some for nothing.
      telemetry.emit('roster.failed', { error })
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
