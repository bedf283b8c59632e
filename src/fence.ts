// Fences: which owner, under which epoch, may write to a partition. They stand in the store of what they guard, so
// that a write and the look at its fence are one step. Rules [F1] to [F4] of docs/spec/roster.md.

/** A partition and the epoch under which it is held. */
export interface Held {
  partition: number
  epoch: number
}

/** By which right a fenced write is made: every partition it touches must be held by the owner under that epoch. */
export interface Claim {
  owner: string
  held: readonly Held[]
}

/** A claim that is made by raising its fences. */
export interface NewClaim extends Claim {
  /** How many runs that could end its process the owner has under way at once, at most; none unless said. */
  concurrency?: number
}

export interface Raised {
  partition: number
  /** False: the fence stands at a higher epoch, or at this one with another owner; nothing was changed. */
  raised: boolean
  /** The epoch at which the fence now stands. */
  epoch: number
  /** How many runs another owner may have had under way that held it before and did not release it. [X43] */
  suspects: number
}

export interface Fence extends Held {
  owner: string
  /** The store's clock when it was raised. */
  raisedAt: number
}

/** A fence as its store holds it. */
export interface StoredFence extends Fence {
  /** How many runs its owner may have under way; 0 after a release. */
  concurrency: number
  /** How many runs the owner before may have had under way; 0: it had released it, or there was none. */
  suspects: number
}

export interface FenceStore {
  /** Takes over partitions of a resource, each unless its fence stands higher or beside it. [F1] */
  raise(resource: string, claim: NewClaim): Promise<Raised[]>
  /** Says that nothing of the owner's is under way any more where the fence is the claim's; the fence stays. [X43] */
  release(resource: string, claim: Claim): Promise<void>
  /** The fences of a resource that were ever raised, by partition. */
  fences(resource: string): Promise<Fence[]>
}

/** The resource that a pool's partitions are. */
export function poolResource(pool: string): string {
  return `pool/${pool}`
}

/** The pool whose partitions a resource is; null: it is no pool's. */
export function poolOf(resource: string): string | null {
  return resource.startsWith('pool/') ? resource.slice('pool/'.length) : null
}

/** What a raise makes of a fence; pure, and every store does the same. [F1] [X43] */
export function raiseFence(
  fence: StoredFence | undefined,
  asked: Omit<StoredFence, 'raisedAt' | 'suspects'> & { now: number },
): { raised: boolean; fence: StoredFence } {
  const { now: raisedAt, ...claim } = asked
  if (fence === undefined) return { raised: true, fence: { ...claim, raisedAt, suspects: 0 } }
  const isSameOwner = fence.owner === claim.owner
  // Asked again, because the answer was lost: what is known of the owner before must not be.
  if (fence.epoch === claim.epoch && isSameOwner) {
    return { raised: true, fence: { ...fence, concurrency: claim.concurrency } }
  }
  if (fence.epoch >= claim.epoch) return { raised: false, fence }
  const suspects = isSameOwner ? 0 : fence.concurrency
  return { raised: true, fence: { ...claim, raisedAt, suspects } }
}
