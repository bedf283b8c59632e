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

export interface Raised {
  partition: number
  /** False: the fence stands at a higher epoch, or at this one with another owner; nothing was changed. */
  raised: boolean
  /** The epoch at which the fence now stands. */
  epoch: number
}

export interface Fence extends Held {
  owner: string
  /** The store's clock when it was raised. */
  raisedAt: number
}

export interface FenceStore {
  /** Takes over partitions of a resource, each unless its fence stands higher or beside it. [F1] */
  raise(resource: string, claim: Claim): Promise<Raised[]>
  /** The fences of a resource that were ever raised, by partition. */
  fences(resource: string): Promise<Fence[]>
}

/** The resource that a pool's partitions are. */
export function poolResource(pool: string): string {
  return `pool/${pool}`
}
