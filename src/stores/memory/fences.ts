// Fences in memory: the reading of [F1], [F2] and [X43] that other stores are compared with.
import type { Clock } from '../../clock.ts'
import {
  type Claim,
  type Fence,
  type FenceStore,
  type NewClaim,
  type Raised,
  type StoredFence,
  raiseFence,
} from '../../fence.ts'
import type { Commit } from './commit.ts'
import type { Keep } from './snapshots.ts'

export class MemoryFences implements FenceStore {
  readonly #fences = new Map<string, Map<number, StoredFence>>()
  readonly #clock: Clock
  readonly #commit: Commit
  /** Epochs below were issued before the store went back. [G6] */
  #leastEpoch = 0

  constructor({ clock, commit }: { clock: Clock; commit: Commit }) {
    this.#clock = clock
    this.#commit = commit
  }

  async raise(resource: string, claim: NewClaim): Promise<Raised[]> {
    return this.#commit('roster', () => this.#raise(resource, claim))
  }

  #raise(resource: string, { owner, held, concurrency = 0 }: NewClaim): Raised[] {
    const fences = this.#of(resource)
    return held.map(({ partition, epoch }) => {
      if (epoch < this.#leastEpoch) return { partition, raised: false, epoch: this.#leastEpoch, suspects: 0 }
      const now = this.#clock.now()
      const { raised, fence } = raiseFence(fences.get(partition), {
        partition,
        epoch,
        owner,
        concurrency,
        now,
      })
      fences.set(partition, fence)
      return { partition, raised, epoch: fence.epoch, suspects: raised ? fence.suspects : 0 }
    })
  }

  async release(resource: string, claim: Claim): Promise<void> {
    this.#commit('roster', () => {
      const fences = this.#of(resource)
      for (const partition of this.held(resource, claim))
        fences.set(partition, { ...(fences.get(partition) as StoredFence), concurrency: 0 })
    })
  }

  async fences(resource: string): Promise<Fence[]> {
    const fences = [...this.#of(resource).values()].sort((a, b) => a.partition - b.partition)
    return fences.map(({ partition, epoch, owner, raisedAt }) => ({ partition, epoch, owner, raisedAt }))
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

  /** Nobody has a fence then, and no claim of before is one's. */
  readonly snapshot: Keep = () => {
    const kept = [...this.#fences].map(([resource, fences]) => [resource, [...fences.values()]] as const)
    return (least) => {
      this.#leastEpoch = least
      this.#fences.clear()
      for (const [resource, fences] of kept)
        for (const fence of fences) {
          const epoch = Math.max(fence.epoch + 1, least)
          this.#of(resource).set(fence.partition, { ...fence, epoch, owner: '', concurrency: 0, suspects: 0 })
        }
    }
  }

  #of(resource: string): Map<number, StoredFence> {
    let fences = this.#fences.get(resource)
    if (fences === undefined) this.#fences.set(resource, (fences = new Map()))
    return fences
  }
}
