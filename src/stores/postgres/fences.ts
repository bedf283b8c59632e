// Fences: rows that fenced writes lock shared, and a raise alone.
import type { Claim, Fence, FenceStore, NewClaim, Raised } from '../../fence.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections } from './connections.ts'
import { VITAL_READ } from './pools.ts'

/** A repeated raise of the same pair succeeds again, and so does a repeated release. */
const RAISE: Call = { operation: 'commit', timeoutMs: 1000, again: 'exact' }

/** Parameters 2 to 5 of every fenced query: the part `claimed` reads them. */
export function claimColumns(resource: string, { owner, held }: Claim): unknown[] {
  const partitions = numberArray(held.map(({ partition }) => partition))
  return [partitions, numberArray(held.map(({ epoch }) => epoch)), resource, owner]
}

export class PostgresFences implements FenceStore {
  readonly #connections: Connections

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async raise(resource: string, { owner, held, concurrency = 0 }: NewClaim): Promise<Raised[]> {
    const values = [concurrency, ...claimColumns(resource, { owner, held })]
    const rows = await this.#connections.query('raise', values, RAISE)
    const raised = new Map(rows.map((row) => [row['partition'], row['suspects'] as number]))
    if (raised.size === held.length) {
      return held.map(({ partition, epoch }) => {
        return { partition, raised: true, epoch, suspects: raised.get(partition) ?? 0 }
      })
    }
    const stands = new Map((await this.fences(resource)).map((fence) => [fence.partition, fence.epoch]))
    return held.map(({ partition, epoch }) => {
      const suspects = raised.get(partition)
      if (suspects !== undefined) return { partition, raised: true, epoch, suspects }
      return { partition, raised: false, epoch: stands.get(partition) ?? epoch, suspects: 0 }
    })
  }

  async release(resource: string, claim: Claim): Promise<void> {
    await this.#connections.query('release_fences', [0, ...claimColumns(resource, claim)], RAISE)
  }

  async fences(resource: string): Promise<Fence[]> {
    const rows = await this.#connections.query('fences', [resource], VITAL_READ)
    return rows.map((row) => ({
      partition: row['partition'] as number,
      epoch: row['epoch'] as number,
      owner: row['owner'] as string,
      raisedAt: row['raised_at'] as number,
    }))
  }
}
