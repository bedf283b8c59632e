// Fences: rows that fenced writes lock shared, and a raise alone.
import type { Claim, Fence, FenceStore, Raised } from '../../fence.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections } from './connections.ts'
import { VITAL_READ } from './pools.ts'

/** A repeated raise of the same pair succeeds again. */
const RAISE: Call = { operation: 'commit', timeoutMs: 1000, again: 'exact' }

export class PostgresFences implements FenceStore {
  readonly #connections: Connections

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async raise(resource: string, { owner, held }: Claim): Promise<Raised[]> {
    const partitions = numberArray(held.map(({ partition }) => partition))
    const epochs = numberArray(held.map(({ epoch }) => epoch))
    const rows = await this.#connections.query('raise', [resource, owner, partitions, epochs], RAISE)
    const raised = new Set(rows.map((row) => row['partition']))
    if (raised.size === held.length) {
      return held.map(({ partition, epoch }) => ({ partition, raised: true, epoch }))
    }
    const stands = new Map((await this.fences(resource)).map((fence) => [fence.partition, fence.epoch]))
    return held.map(({ partition, epoch }) => {
      if (raised.has(partition)) return { partition, raised: true, epoch }
      return { partition, raised: false, epoch: stands.get(partition) ?? epoch }
    })
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
