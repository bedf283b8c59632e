// Fences, mirrored in memory: a fenced write looks at them in its own transaction without asking the file, which is
// followed under the lock before anything is decided. [F2] [F4]
import type { Claim, Fence, FenceStore, Raised } from '../../fence.ts'
import type { Database } from './database.ts'
import type { Mirror, Session, Transaction } from './session.ts'

export interface HeldPartitions {
  /** The claimed partitions whose fence is the claim's. */
  held: number[]
  /** The others. */
  refused: number[]
}

export class SqliteFences implements FenceStore, Mirror {
  readonly #database: Database
  readonly #session: Session
  readonly #fences = new Map<string, Map<number, Fence>>()
  /** What this transaction has raised, and what stood there before it. */
  #raised: { resource: string; partition: number; before: Fence | undefined }[] = []
  /** The newest raise that memory knows, and that it knew before this transaction. */
  #last = -1
  #lastBefore = -1

  constructor(database: Database, session: Session) {
    this.#database = database
    this.#session = session
    session.mirror(this)
  }

  raise(resource: string, claim: Claim): Promise<Raised[]> {
    return this.#session.write('roster', (tx) => this.#raiseIn(tx, resource, claim))
  }

  #raiseIn({ now }: Transaction, resource: string, { owner, held }: Claim): Raised[] {
    return held.map(({ partition, epoch }) => {
      const fence = this.#fences.get(resource)?.get(partition)
      const isOurs = fence?.epoch === epoch && fence.owner === owner
      if (fence !== undefined && fence.epoch >= epoch && !isOurs) {
        return { partition, raised: false, epoch: fence.epoch }
      }
      if (!isOurs) this.#save(resource, { partition, epoch, owner, raisedAt: now })
      return { partition, raised: true, epoch }
    })
  }

  async fences(resource: string): Promise<Fence[]> {
    return this.#session.read(() => {
      const fences = [...(this.#fences.get(resource)?.values() ?? [])]
      return fences.map((fence) => ({ ...fence })).sort((a, b) => a.partition - b.partition)
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
      const { resource, partition, epoch, owner, raised_at: raisedAt } = row
      this.#set(resource, { partition, epoch, owner, raisedAt })
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

  #save(resource: string, fence: Fence): void {
    const { partition, epoch, owner, raisedAt } = fence
    this.#database.statement('save_fence').run(resource, partition, epoch, owner, raisedAt)
    this.#last = this.#database.statement('new_fence').get()?.['next'] as number
    this.#raised.push({ resource, partition, before: this.#fences.get(resource)?.get(partition) })
    this.#set(resource, fence)
  }

  #set(resource: string, fence: Fence): void {
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
}
