// What the roster was told of this member, and what it must still be told: resources that it serves, and where its API
// answers.
import { HeadraceError } from '../errors.ts'
import type { RosterParts } from './parts.ts'
import type { NewMember, Resource, RosterView } from './store.ts'

export class Announced {
  /** Where its API answers; null: where it was said to when it was built. */
  address: string | null = null
  readonly #parts: RosterParts
  /** The names of resources that the roster knows with another number of partitions. [G1] */
  readonly #mismatched = new Set<string>()

  constructor(parts: RosterParts) {
    this.#parts = parts
  }

  /** What it says when it joins: all that the roster takes. */
  introduce(id: string, served: readonly Resource[]): { member: NewMember; resources: Resource[] } {
    const resources = this.#fitting(served)
    const serves = resources.map(({ name }) => name)
    return { member: { ...this.#parts.about(), address: this.#reachedAt(), id, serves }, resources }
  }

  /** Tells what came after the join, or while it was under way; false: nothing did. [G1] [G5] */
  async catchUp({ members }: RosterView, id: string, served: readonly Resource[]): Promise<boolean> {
    const known = members.find((member) => member.id === id)
    if (known === undefined) return false
    const rest = this.#fitting(served).filter(({ name }) => !known.serves.includes(name))
    for (const resource of rest) await this.#serve(id, resource)
    const address = this.#reachedAt()
    const hasMoved = known.address !== address
    if (hasMoved) await this.#parts.store.roster.reach(id, address)
    return rest.length > 0 || hasMoved
  }

  #reachedAt(): string | null {
    return this.address ?? this.#parts.about().address
  }

  #fitting(resources: readonly Resource[]): Resource[] {
    return resources.filter(({ name }) => !this.#mismatched.has(name))
  }

  async #serve(id: string, resource: Resource): Promise<void> {
    try {
      await this.#parts.store.roster.serve(id, [resource])
    } catch (error) {
      if (!(error instanceof HeadraceError) || error.retryable) throw error
      // Asked for with the others it would keep this member out of the roster.
      this.#mismatched.add(resource.name)
      this.#parts.telemetry.emit('roster.failed', { error })
    }
  }
}
