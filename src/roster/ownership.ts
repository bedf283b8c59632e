// What this member holds of one resource: which partitions, under which epochs, and what is in flight on them.
// The roster tells it of allotments; whoever works on the resource asks it for a claim. Rules [H1] to [H5].
import type { Clock } from '../clock.ts'
import type { Claim, Held, Raised } from '../fence.ts'
import { Listeners } from '../listeners.ts'
import type { Allotment, RefusedRaise, Resource, RosterView } from './store.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Trust } from './trust.ts'

/** `leaving`: it is to be handed over. `sent`: that was sent, so it is never used again under this epoch. */
type Phase = 'raising' | 'refused' | 'held' | 'leaving' | 'sent'

interface Part {
  epoch: number
  phase: Phase
  /** The epoch at which the fence stands that refused it. */
  fence: number
  suspects: number
}

interface Use {
  partitions: ReadonlySet<number>
  since: number
}

export interface OwnershipParts {
  resource: Resource
  clock: Clock
  telemetry: Telemetry
  trust: Trust
  /** The id under which this member is in the roster. */
  owner(): string
  /** The roster as it was last seen; left out: nobody sees it. */
  view?(): RosterView | null
  /** Something is to be raised: look soon. */
  look(): void
}

/** A use that takes longer is stuck: no store call may take as long. */
const STUCK_MS = 10_000

/** The partitions of a resource that this member owns: what `race.own(name)` answers. */
export class Ownership {
  readonly resource: Resource
  /** @internal How many runs that could end the process are under way at once, at most; who works on it says so. [X43] */
  concurrency = 0
  readonly #parts: OwnershipParts
  readonly #held = new Map<number, Part>()
  readonly #uses = new Set<Use>()
  /** How many runs are under way in each partition, by the epochs under which they began. */
  readonly #runs = new Map<number, Map<number, number>>()
  readonly #listeners: Listeners
  readonly #waiters = new Set<() => void>()

  constructor(parts: OwnershipParts) {
    this.resource = parts.resource
    this.#parts = parts
    this.#listeners = new Listeners((error) => parts.telemetry.emit('listener.failed', { error }))
  }

  /** The partitions that may be worked on now; none while the roster cannot be trusted. */
  claim(): Claim {
    const owner = this.#parts.owner()
    if (!this.#parts.trust.holds) return { owner, held: [] }
    return { owner, held: this.#in('held').map(([partition, { epoch }]) => ({ partition, epoch })) }
  }

  /** Works under the claim of this moment; nothing of it is handed over before the work ends. [H3] */
  async use<Answer>(work: (claim: Claim) => Promise<Answer>): Promise<Answer> {
    const claim = this.claim()
    const partitions = new Set(claim.held.map(({ partition }) => partition))
    const use = { partitions, since: this.#parts.clock.mono() }
    this.#uses.add(use)
    try {
      return await work(claim)
    } finally {
      this.#uses.delete(use)
      for (const wake of this.#waiters) wake()
    }
  }

  /**
   * @internal A run begins: its partition is handed over after its end. Unlike a use it may take as long as it likes. It counts
   * under its epoch alone: who has the partition again waits for none that has outlived an earlier one. [H3]
   */
  beginRun({ partition, epoch }: Held): void {
    let epochs = this.#runs.get(partition)
    if (epochs === undefined) this.#runs.set(partition, (epochs = new Map()))
    epochs.set(epoch, (epochs.get(epoch) ?? 0) + 1)
  }

  /** @internal */
  endRun({ partition, epoch }: Held): void {
    const epochs = this.#runs.get(partition)
    const rest = (epochs?.get(epoch) ?? 0) - 1
    if (rest > 0) {
      epochs?.set(epoch, rest)
      return
    }
    epochs?.delete(epoch)
    for (const wake of this.#waiters) wake()
  }

  /** @internal Whether work may start that was taken under this epoch. */
  mayStart({ partition, epoch }: Held): boolean {
    const part = this.#held.get(partition)
    return part?.epoch === epoch && part.phase === 'held' && this.#parts.trust.holds
  }

  /** @internal Whether work that was begun under this epoch may be settled: until it was sent that another has it. [A3] */
  maySettle({ partition, epoch }: Held): boolean {
    const part = this.#held.get(partition)
    return part?.epoch === epoch && (part.phase === 'held' || part.phase === 'leaving')
  }

  /** The roster as it was last seen; null: it was not. */
  get view(): RosterView | null {
    return this.#parts.view?.() ?? null
  }

  /** @internal How many runs the owner before may have had under way when this was taken over from it. [X43] */
  suspectsOf({ partition, epoch }: Held): number {
    const part = this.#held.get(partition)
    return part?.epoch === epoch ? part.suspects : 0
  }

  /** @internal For how long what is held can be trusted yet, unless a beat is answered. [H2] */
  get trustedForMs(): number {
    return this.#parts.trust.leftMs
  }

  /** @internal Another number than before: what is held could not be trusted meanwhile. */
  get trustReturns(): number {
    return this.#parts.trust.returns
  }

  /** @internal A fenced write was refused: these are another's by now, unless a new raise says otherwise. */
  lose(claim: Claim, partitions: readonly number[]): void {
    for (const { partition, epoch } of claim.held) {
      const part = this.#held.get(partition)
      if (partitions.includes(partition) && part?.epoch === epoch && part.phase === 'held')
        part.phase = 'raising'
    }
    if (partitions.length === 0) return
    this.#tell()
    this.#parts.look()
  }

  /** Calls back when what is held has changed, until the returned function is called. What a listener throws is reported. */
  watch(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** @internal What is held can be trusted again: who waits for it shall look now, and not with the next pulse. [H2] */
  wake(): void {
    this.#tell()
  }

  /** @internal Whether a use has been under way for so long that this member cannot count as alive. [H5] */
  get isStuck(): boolean {
    const before = this.#parts.clock.mono() - STUCK_MS
    return [...this.#uses].some(({ since }) => since < before)
  }

  /** @internal What it tells the roster that it holds. */
  holding(): Held[] {
    return this.#in('held', 'leaving').map(([partition, { epoch }]) => ({ partition, epoch }))
  }

  /** @internal The partitions that are this member's, also those that it may not work on yet, or any more. */
  allotted(): number[] {
    return [...this.#held.keys()]
  }

  /** @internal The raises that were refused. [A6] */
  refused(): RefusedRaise[] {
    const { name } = this.resource
    return this.#in('refused').map(([partition, { fence }]) => ({ resource: name, partition, epoch: fence }))
  }

  /** @internal Follows the allotments that name this member as owner; answers what is to be raised. */
  follow(allotments: readonly Allotment[]): Held[] {
    const epochs = new Map(allotments.map(({ partition, epoch }) => [partition, epoch]))
    for (const [partition, { epoch }] of this.#held) {
      if (epochs.get(partition) !== epoch) this.#held.delete(partition)
    }
    for (const { partition, epoch, next } of allotments) {
      const part = this.#held.get(partition)
      // What is revoked before it was raised is handed over as it is: nothing is in flight.
      if (part === undefined) {
        this.#held.set(partition, {
          epoch,
          phase: next === null ? 'raising' : 'leaving',
          fence: 0,
          suspects: 0,
        })
      } else if (next !== null && part.phase !== 'sent') part.phase = 'leaving'
    }
    this.#tell()
    return this.#in('raising').map(([partition, { epoch }]) => ({ partition, epoch }))
  }

  /** @internal The answers to a raise; what has changed meanwhile is not touched. [H1] */
  raised(asked: readonly Held[], answers: readonly Raised[]): void {
    for (const { partition, raised, epoch: fence, suspects } of answers) {
      const part = this.#held.get(partition)
      const epoch = asked.find((held) => held.partition === partition)?.epoch
      if (part === undefined || part.epoch !== epoch || part.phase !== 'raising') continue
      part.phase = raised ? 'held' : 'refused'
      part.fence = fence
      part.suspects = suspects
    }
    this.#tell()
  }

  /** @internal The partitions that wait to be handed over, or whose hand-over was not answered. */
  leaving(): Held[] {
    return this.#in('leaving', 'sent').map(([partition, { epoch }]) => ({ partition, epoch }))
  }

  /** @internal Resolves when nothing of these partitions is in flight, or after `withinMs`. [H3] */
  async idle(partitions: readonly number[], withinMs: number): Promise<void> {
    const { clock } = this.#parts
    const end = clock.mono() + withinMs
    const busy = (): boolean =>
      partitions.some((partition) => this.#hasRuns(partition)) ||
      [...this.#uses].some((use) => partitions.some((partition) => use.partitions.has(partition)))
    while (busy() && clock.mono() < end) {
      const ended = new AbortController()
      const wake = (): void => ended.abort()
      this.#waiters.add(wake)
      await clock.sleep(end - clock.mono(), ended.signal)
      this.#waiters.delete(wake)
    }
  }

  #hasRuns(partition: number): boolean {
    const epoch = this.#held.get(partition)?.epoch
    return epoch !== undefined && this.#runs.get(partition)?.has(epoch) === true
  }

  /**
   * @internal From here on these are never used again under their epochs, whatever becomes of the hand-over. What was granted
   * anew since has a later epoch, and stays. [A3] [A4]
   */
  send(revoked: readonly Held[]): void {
    for (const { partition, epoch } of revoked) {
      const part = this.#held.get(partition)
      if (part?.epoch === epoch) part.phase = 'sent'
    }
    this.#tell()
  }

  /** @internal Holds nothing any more: the roster does not know this member, or it leaves. */
  drop(): void {
    this.#held.clear()
    this.#tell()
  }

  #in(...phases: Phase[]): [number, Part][] {
    return [...this.#held].filter(([, { phase }]) => phases.includes(phase))
  }

  #tell(): void {
    this.#listeners.tell()
  }
}
