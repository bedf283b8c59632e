// The right to write to every partition of a pool, for cases that are not about fences.
import type { Claim } from '../fence.ts'
import { poolResource } from '../fence.ts'
import type { Store } from '../store.ts'

/** The claim of one owner on every partition, at one epoch. */
export function claimOf(partitions: number, owner = 'driver', epoch = 1): Claim {
  return { owner, held: Array.from({ length: partitions }, (_, partition) => ({ partition, epoch })) }
}

/** Raises every fence of a pool, and answers the claim; harmless when it was done before. */
export async function claimAll(store: Store, pool: string, partitions: number): Promise<Claim> {
  const claim = claimOf(partitions)
  await store.fences.raise(poolResource(pool), claim)
  return claim
}
