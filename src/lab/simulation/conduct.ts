// Watches what one life asks of the store, and what it was answered, from outside its code: it works on what it has raised,
// within its trust; it hands over nothing that is in flight; and it judges nobody after a gap. How it works on jobs is
// watched in job-conduct.ts.
import type { Clock } from '../../clock.ts'
import { type Claim, type FenceStore, type Held, poolResource } from '../../fence.ts'
import { timingOf } from '../../roster/settings.ts'
import type { Entries } from '../../pool/store.ts'
import type { Allotment, Decision, Grant, RosterStore } from '../../roster/store.ts'
import type { Arrivals, Pulse, PulseRequest, Store } from '../../store.ts'

export interface ConductParts {
  clock: Clock
  leaseMs: number
  drainWithinMs: number
  /** Whether it was told to stop. */
  isLeaving: () => boolean
  say: (violation: string) => void
}

interface Work {
  /** A take: a stop does not wait for it, since nothing of its answer would start. */
  isTake: boolean
  names: ReadonlySet<string>
  since: number
}

export class Conduct {
  /** For how long a member may trust an answered beat, from when it was sent. */
  readonly trustMs: number
  readonly #parts: ConductParts
  /** Partitions and epochs whose raise was answered. */
  readonly #raised = new Set<string>()
  /** When each of them was raised, as a number of raises; Infinity: it was handed over since. */
  readonly #raisedAt = new Map<string, number>()
  /** The partitions that it raised last, by resource and partition. */
  readonly #latest = new Map<string, Held>()
  #raises = 0
  readonly #underWay = new Set<Work>()
  /** When the last beat was sent that was answered, by this member's monotonic clock. */
  #trustedFrom = -Infinity
  #member: string | null = null
  /** By the store's clock: the last answered beat, and the end of the last gap between two such. */
  #heardAt = -Infinity
  #gapEndedAt = Infinity
  #viewedAt = -Infinity
  /** Whose each partition is, and under which epoch, by the last view; and since when it is known that it is revoked. */
  #allotted = new Map<string, string>()
  readonly #revokedAt = new Map<string, number>()
  #isKnown = false
  /** The store's generation as of the last pulse, when another was met, and what was raised before that. [G6] */
  #generation: string | null = null
  #generationFrom = -Infinity
  #metAt = Infinity
  #raisedBefore: ReadonlySet<string> = new Set()
  /** It has asked to be taken off the roster. */
  hasLeft = false

  constructor(parts: ConductParts) {
    this.#parts = parts
    this.trustMs = timingOf(parts.leaseMs).trustMs
  }

  /** The same store, watched. */
  wrap(store: Store): Store {
    return {
      ...store,
      fences: this.#fences(store.fences),
      roster: this.#roster(store.roster),
      pool: { ...store.pool, entries: this.#entries(store.pool.entries) },
      mover: { move: (request) => this.#work(request, () => store.mover.move(request)) },
      arrivals: store.arrivals === null ? null : this.#arrivals(store.arrivals),
      pulse: (request) => this.#pulse(store, request),
    }
  }

  /** Whether a beat was answered lately enough to work by it. */
  get isTrusted(): boolean {
    return this.#parts.clock.mono() - this.#trustedFrom < this.trustMs
  }

  /** Whether it has met this generation of the store. */
  isInGeneration(generation: string): boolean {
    return this.#generation === generation
  }

  /** How many raises were answered. */
  get moment(): number {
    return this.#raises
  }

  /** Whether a partition of a pool was raised since some moment. */
  raisedSince(pool: string, partition: number, askedAt: number): boolean {
    const resource = poolResource(pool)
    const held = this.#latest.get(`${resource}/${partition}`)
    return held !== undefined && (this.#raisedAt.get(nameOf(resource, held)) ?? 0) > askedAt
  }

  /** What speaks against a run of a pool that starts now under this right, and was asked for at a moment; null: nothing. */
  speaksAgainst(pool: string, held: Held, askedAt: number): string | null {
    const { clock } = this.#parts
    const name = nameOf(poolResource(pool), held)
    const raisedAt = this.#raisedAt.get(name)
    if (raisedAt === undefined) return `[X5] it has not raised ${name}`
    if (raisedAt === Infinity) return `[X5] it has handed ${name} over`
    if (this.#isOfBefore(name)) return `[G6] it has raised ${name} before the store went back`
    if (raisedAt > askedAt) return `[X4] it was taken before ${name} was raised`
    const age = clock.mono() - this.#trustedFrom
    if (age < this.trustMs) return null
    return `[X5] its last answered beat was sent ${Math.round(age)} ms ago`
  }

  /** Whether this was raised some time. */
  wasRaised(resource: string, held: Held): boolean {
    return this.#raisedAt.has(nameOf(resource, held))
  }

  /** Since when it knows that this is to be handed over; Infinity: it does not. */
  revokedAt(resource: string, held: Held): number {
    return this.#revokedAt.get(nameOf(resource, held)) ?? Infinity
  }

  /** Whether this may be another's, by what this life was told. */
  mayBeLost(pool: string, held: Held): boolean {
    const name = nameOf(poolResource(pool), held)
    return (
      !this.#isKnown || this.#allotted.get(name) !== this.#member || this.#raisedAt.get(name) === Infinity
    )
  }

  /** Takes and settles. A settle needs no trust: what is held decides. */
  #entries(entries: Entries): Entries {
    return {
      ...entries,
      take: (pool, request) => {
        const resource = poolResource(pool)
        const names = (request.partitions ?? []).map((partition) => {
          const held = this.#latest.get(`${resource}/${partition}`)
          return held === undefined ? `${resource}/${partition}` : nameOf(resource, held)
        })
        this.#works(`${this.#member}`, names)
        return this.#whileUnderWay(names, () => entries.take(pool, request), true)
      },
      settle: (pool, settlements, claim) => {
        const names = claim.held.map((held) => nameOf(poolResource(pool), held))
        const lost = names.find((name) => (this.#raisedAt.get(name) ?? Infinity) === Infinity)
        if (lost !== undefined)
          this.#parts.say(`[X15] ${claim.owner} settles on ${lost}, which it does not hold`)
        return entries.settle(pool, settlements, claim)
      },
    }
  }

  #fences(fences: FenceStore): FenceStore {
    return {
      ...fences,
      raise: async (resource, claim) => {
        const answers = await fences.raise(resource, claim)
        const raised = new Set(answers.filter((answer) => answer.raised).map(({ partition }) => partition))
        this.#raises += 1
        for (const held of claim.held.filter(({ partition }) => raised.has(partition))) {
          const name = nameOf(resource, held)
          this.#raised.add(`${claim.owner} ${name}`)
          if (!this.#raisedAt.has(name)) this.#raisedAt.set(name, this.#raises)
          this.#latest.set(`${resource}/${held.partition}`, held)
        }
        return answers
      },
    }
  }

  #arrivals(arrivals: Arrivals): Arrivals {
    return {
      ...arrivals,
      foldPuts: (request) => this.#work(request, () => arrivals.foldPuts(request)),
    }
  }

  #work<Answer>(
    { pool, claim }: { pool: string; claim: Claim },
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const names = claim.held.map((held) => nameOf(poolResource(pool), held))
    const unraised = names.find((name) => !this.#raised.has(`${claim.owner} ${name}`))
    if (unraised !== undefined)
      this.#parts.say(`[H1] ${claim.owner} works on ${unraised}, which it has not raised`)
    this.#works(claim.owner, names)
    return this.#whileUnderWay(names, call)
  }

  /** On what it holds, and while it can trust that. */
  #works(owner: string, names: readonly string[]): void {
    const { clock, say } = this.#parts
    const lost = names.find((name) => (this.#raisedAt.get(name) ?? Infinity) === Infinity)
    if (lost !== undefined) say(`[A3] ${owner} works on ${lost}, which it does not hold`)
    const before = names.find((name) => this.#isOfBefore(name))
    if (before !== undefined)
      say(`[G6] ${owner} works on ${before}, which it has raised before the store went back`)
    const age = clock.mono() - this.#trustedFrom
    if (names.length > 0 && age >= this.trustMs)
      say(`[H2] ${owner} works ${Math.round(age)} ms after it sent its last answered beat`)
  }

  async #whileUnderWay<Answer>(
    names: readonly string[],
    call: () => Promise<Answer>,
    isTake = false,
  ): Promise<Answer> {
    const work = { isTake, names: new Set(names), since: this.#parts.clock.mono() }
    this.#underWay.add(work)
    try {
      return await call()
    } finally {
      this.#underWay.delete(work)
    }
  }

  #roster(roster: RosterStore): RosterStore {
    return {
      ...roster,
      view: async () => {
        const view = await roster.view()
        this.#viewedAt = view.now
        this.#viewed(view.allotments)
        return view
      },
      decide: (decision) => {
        this.#judges(decision)
        return roster.decide(decision)
      },
      grant: (owner, grants) => {
        this.#handsOver(owner, grants)
        return roster.grant(owner, grants)
      },
      leave: (owner, grants) => {
        this.hasLeft = true
        this.#handsOver(owner, grants)
        return roster.leave(owner, grants)
      },
    }
  }

  #viewed(allotments: readonly Allotment[]): void {
    this.#allotted = new Map(allotments.map((each) => [nameOf(each.resource, each), each.owner]))
    for (const { resource, partition, epoch, owner, next } of allotments) {
      const name = nameOf(resource, { partition, epoch })
      if (owner === this.#member && next !== null && !this.#revokedAt.has(name))
        this.#revokedAt.set(name, this.#parts.clock.mono())
    }
  }

  #handsOver(owner: string, grants: readonly Grant[]): void {
    const { clock, drainWithinMs, isLeaving, say } = this.#parts
    const names = grants.map((grant) => nameOf(grant.resource, grant))
    for (const name of names) this.#raisedAt.set(name, Infinity)
    for (const work of this.#underWay) {
      if (work.isTake && isLeaving()) continue
      const early = names.find((name) => work.names.has(name))
      const since = this.#revokedAt.get(early ?? '') ?? work.since
      if (early !== undefined && clock.mono() < since + drainWithinMs)
        say(`[H3] ${owner} hands ${early} over, and its own work on it is under way`)
    }
  }

  #judges({ leader, dead, leaseMs }: Decision): void {
    const sinceMs = this.#viewedAt - this.#gapEndedAt
    if (dead.length > 0 && sinceMs < leaseMs)
      this.#parts.say(`[K5] ${leader} declares ${dead.join(' ')} dead ${sinceMs} ms after its own gap`)
  }

  /** An answer that was overtaken tells nothing of the generation either. */
  #meets(generation: string, sentAt: number): void {
    if (sentAt < this.#generationFrom) return
    this.#generationFrom = sentAt
    if (this.#generation !== null && this.#generation !== generation) {
      this.#metAt = this.#parts.clock.mono()
      this.#raisedBefore = new Set(this.#raisedAt.keys())
    }
    this.#generation = generation
  }

  /** Whether it has given this up, since it has met that the store went back; in that very moment it may not have yet. */
  #isOfBefore(name: string): boolean {
    return this.#parts.clock.mono() > this.#metAt && this.#raisedBefore.has(name)
  }

  async #pulse(store: Store, request: PulseRequest): Promise<Pulse> {
    const sentAt = this.#parts.clock.mono()
    const pulse = await store.pulse(request)
    if (request.beat !== null && pulse.beaten !== null) this.#isKnown = pulse.beaten.known
    this.#meets(pulse.generation, sentAt)
    // An answer that was overtaken tells a member nothing.
    if (request.beat !== null && pulse.beaten?.known === true && sentAt >= this.#trustedFrom) {
      if (request.beat.member !== this.#member) this.#heardAt = -Infinity
      this.#member = request.beat.member
      this.#trustedFrom = sentAt
      if (pulse.now - this.#heardAt > timingOf(this.#parts.leaseMs).gapMs) this.#gapEndedAt = pulse.now
      // What came before a clock was set back is at least so long ago.
      this.#gapEndedAt = Math.min(this.#gapEndedAt, pulse.now)
      this.#heardAt = pulse.now
    }
    return pulse
  }
}

function nameOf(resource: string, { partition, epoch }: Held): string {
  return `${resource}/${partition} under epoch ${epoch}`
}
