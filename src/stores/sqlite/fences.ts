// Fences, mirrored in memory: a fenced write looks at them in its own transaction without asking the file, which is
// followed under the lock before anything is decided. [F2] [F4]
import {
  type Claim,
  type Fence,
  type FenceStore,
  type NewClaim,
  type Raised,
  type StoredFence,
  raiseFence,
} from '../../fence.ts'
import type { Database } from './database.ts'
import type { Session } from './session.ts'
import type { Mirror, Transaction } from './work.ts'

export interface HeldPartitions {
  /** The claimed partitions whose fence is the claim's. */
  held: number[]
  /** The others. */
  refused: number[]
}

export class SqliteFences implements FenceStore, Mirror {
  readonly #database: Database
  readonly #session: Session
  readonly #fences = new Map<string, Map<number, StoredFence>>()
  /** What this transaction has raised, and what stood there before it. */
  #raised: { resource: string; partition: number; before: StoredFence | undefined }[] = []
  /** The newest raise that memory knows, and that it knew before this transaction. */
  #last = -1
  #lastBefore = -1

  constructor(database: Database, session: Session) {
    this.#database = database
    this.#session = session
    session.mirror(this)
  }

  raise(resource: string, claim: NewClaim): Promise<Raised[]> {
    return this.#session.write('roster', (tx) => this.#raiseIn(tx, resource, claim))
  }

  #raiseIn({ now }: Transaction, resource: string, { owner, held, concurrency = 0 }: NewClaim): Raised[] {
    return held.map(({ partition, epoch }) => {
      const before = this.#fences.get(resource)?.get(partition)
      const { raised, fence } = raiseFence(before, { partition, epoch, owner, concurrency, now })
      if (before?.epoch !== fence.epoch || before.concurrency !== fence.concurrency)
        this.#save(resource, fence)
      return { partition, raised, epoch: fence.epoch, suspects: raised ? fence.suspects : 0 }
    })
  }

  release(resource: string, claim: Claim): Promise<void> {
    return this.#session.write('roster', () => {
      for (const partition of this.look(resource, claim).held) {
        const fence = this.#fences.get(resource)?.get(partition) as StoredFence
        if (fence.concurrency > 0) this.#save(resource, { ...fence, concurrency: 0 })
      }
    })
  }

  async fences(resource: string): Promise<Fence[]> {
    return this.#session.read(() => {
      const fences = [...(this.#fences.get(resource)?.values() ?? [])]
      return fences
        .map(({ partition, epoch, owner, raisedAt }) => ({ partition, epoch, owner, raisedAt }))
        .sort((a, b) => a.partition - b.partition)
    })
  }

  /** Which partitions of a claim are its own; asked in the transaction that writes to them. */
  look(resource: string, { owner, held }: Claim): HeldPartitions {
    const fences = this.#fences.get(resource)
    const looked: HeldPartitions = { held: [], refused: [] }
    // A partition that is named twice would be taken from twice.
    const named = new Set<number>()
    for (const { partition, epoch } of held) {
      if (named.has(partition)) continue
      named.add(partition)
      const fence = fences?.get(partition)
      const holds = fence?.epoch === epoch && fence.owner === owner
      looked[holds ? 'held' : 'refused'].push(partition)
    }
    return looked
  }

  refresh(): void {
    const last = this.#database.statement('last_fence').get()?.['next'] as number
    if (last === this.#last) return
    this.#fences.clear()
    for (const row of this.#database.statement('all_fences').all() as unknown as FenceRow[]) {
      const { resource, raised_at: raisedAt, ...fence } = row
      this.#set(resource, { ...fence, raisedAt })
    }
    this.#last = this.#lastBefore = last
  }

  flush(): void {}

  committed(): void {
    this.#raised = []
    this.#lastBefore = this.#last
  }

  rolledBack(): void {
    for (const { resource, partition, before } of this.#raised.toReversed()) {
      if (before === undefined) this.#fences.get(resource)?.delete(partition)
      else this.#set(resource, before)
    }
    this.#last = this.#lastBefore
    this.#raised = []
  }

  #save(resource: string, fence: StoredFence): void {
    const { partition, epoch, owner, raisedAt, concurrency, suspects } = fence
    this.#database
      .statement('save_fence')
      .run(resource, partition, epoch, owner, raisedAt, concurrency, suspects)
    this.#last = this.#database.statement('new_fence').get()?.['next'] as number
    this.#raised.push({ resource, partition, before: this.#fences.get(resource)?.get(partition) })
    this.#set(resource, fence)
  }

  #set(resource: string, fence: StoredFence): void {
    let fences = this.#fences.get(resource)
    if (fences === undefined) this.#fences.set(resource, (fences = new Map()))
    fences.set(fence.partition, fence)
  }
}

interface FenceRow {
  resource: string
  partition: number
  epoch: number
  owner: string
  raised_at: number
  concurrency: number
  suspects: number
}
