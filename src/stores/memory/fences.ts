// Fences in memory: the reading of [F1] and [F2] that other stores are compared with.
import type { Clock } from '../../clock.ts'
import type { Claim, Fence, FenceStore, Raised } from '../../fence.ts'
import type { Commit } from './commit.ts'

export class MemoryFences implements FenceStore {
  readonly #fences = new Map<string, Map<number, Fence>>()
  readonly #clock: Clock
  readonly #commit: Commit

  constructor({ clock, commit }: { clock: Clock; commit: Commit }) {
    this.#clock = clock
    this.#commit = commit
  }

  async raise(resource: string, claim: Claim): Promise<Raised[]> {
    return this.#commit('roster', () => this.#raise(resource, claim))
  }

  #raise(resource: string, { owner, held }: Claim): Raised[] {
    const fences = this.#of(resource)
    return held.map(({ partition, epoch }) => {
      const fence = fences.get(partition)
      const isOurs = fence?.epoch === epoch && fence.owner === owner
      if (fence !== undefined && fence.epoch >= epoch && !isOurs) {
        return { partition, raised: false, epoch: fence.epoch }
      }
      if (!isOurs) fences.set(partition, { partition, epoch, owner, raisedAt: this.#clock.now() })
      return { partition, raised: true, epoch }
    })
  }

  async fences(resource: string): Promise<Fence[]> {
    return [...this.#of(resource).values()].sort((a, b) => a.partition - b.partition)
  }

  /** The claimed partitions whose fence is the claim's; the others are refused. */
  held(resource: string, { owner, held }: Claim): Set<number> {
    const fences = this.#of(resource)
    const holds = held.filter(({ partition, epoch }) => {
      const fence = fences.get(partition)
      return fence?.epoch === epoch && fence.owner === owner
    })
    return new Set(holds.map(({ partition }) => partition))
  }

  #of(resource: string): Map<number, Fence> {
    let fences = this.#fences.get(resource)
    if (fences === undefined) this.#fences.set(resource, (fences = new Map()))
    return fences
  }
}
