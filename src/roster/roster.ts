// This member's part in the roster: it joins, beats with the pulse, follows the allotments, leads when it has the
// lease, hands over, and leaves. Rules of docs/spec/roster.md; what is decided is decided by pure functions.
import type { Sent, SentPulse } from '../pulse.ts'
import { Service } from '../service.ts'
import type { Pulse } from '../store.ts'
import { Announced } from './announced.ts'
import { HandOver } from './hand-over.ts'
import { idleShares } from './idle-shares.ts'
import { lead } from './lead.ts'
import { Ownership } from './ownership.ts'
import type { RosterParts } from './parts.ts'
import { legacyOf } from './plan.ts'
import { SHARE_IDLE_MS } from './share.ts'
import type { Beat, Beaten, Leader, Resource, RosterView } from './store.ts'
import { Trust } from './trust.ts'

/** Who is a member, who leads, and what this member owns: `race.roster`. */
export class Roster {
  readonly service: Service
  readonly #parts: RosterParts
  readonly #trust: Trust
  readonly #ownerships = new Map<string, Ownership>()
  #id: string
  #isMember = false
  #isLeaving = false
  /** For telemetry alone: what holds is asked of the trust itself. */
  #standing: 'new' | 'trusted' | 'doubted' = 'new'
  #view: RosterView | null = null
  #leader: Leader | null = null
  #version = -1
  /** The generation of the store, as of the last pulse. */
  #generation: string | null = null
  /** By the store's clock: the last beat whose answer came here, and the end of the last gap between two such. [K5] */
  #heardAt = -Infinity
  #gapEndedAt = Infinity
  /** Something was not written, or not answered: look again with the next pulse. */
  #unfinished = false
  #following: Promise<void> | null = null
  /** Something changed during a look. */
  #mustLookAgain = false
  /** By the store's clock: when the leader has a share to remove. [Q11] */
  #sweepAt = Infinity
  #joining: Promise<void> = Promise.resolve()
  readonly #handOver: HandOver
  readonly #announced: Announced

  constructor(parts: RosterParts) {
    this.#parts = parts
    this.#id = parts.telemetry.member
    this.#trust = new Trust(parts.clock, parts.timing.trustMs)
    this.#handOver = new HandOver({
      ...parts,
      owner: () => this.#id,
      unfinished: () => (this.#unfinished = true),
    })
    this.#announced = new Announced(parts)
    this.service = new Service({ name: 'roster', start: () => this.#join(), stop: () => this.#leave() })
  }

  /** The id under which this member is in the roster; another after it was declared dead. */
  get id(): string {
    return this.#id
  }

  /** What people call this member. */
  get name(): string {
    return this.#parts.about().name
  }

  /** The leader, as of the last pulse; null: none is known. */
  get leader(): Leader | null {
    return this.#leader
  }

  /** Whether this member leads, and may trust that it does. */
  get leads(): boolean {
    return this.#leader?.member === this.#id && this.#trust.holds
  }

  /** The roster as this member last saw it; null: not yet. */
  get view(): RosterView | null {
    return this.#view
  }

  /** Whether what it holds can be trusted right now. [H2] */
  get isTrusted(): boolean {
    return this.#trust.holds
  }

  /** A resource that this member serves from now on. */
  share(resource: Resource): Ownership {
    const known = this.#ownerships.get(resource.name)
    if (known !== undefined) return known
    const { clock, telemetry } = this.#parts
    const ownership = new Ownership({
      resource,
      clock,
      telemetry,
      trust: this.#trust,
      owner: () => this.#id,
      view: () => this.#view,
      look: () => this.look(),
    })
    this.#ownerships.set(resource.name, ownership)
    ownership.watch(() => {
      const partitions = ownership.holding().length
      telemetry.emit('roster.held', { resource: resource.name, partitions })
    })
    if (this.#isMember) this.look()
    return ownership
  }

  /** @internal Where the API of this member answers from now on; null: nowhere that it was not told at first. [G5] */
  reachAt(address: string | null): void {
    this.#announced.address = address
    if (this.#isMember) this.look()
  }

  /** Looks at everything again with a pulse now, whether or not something seems to have changed. */
  look(): void {
    this.#unfinished = true
    this.#parts.pulseSoon()
  }

  /** @internal Whether work on a resource does not end: such a member sends no beat. [H5] */
  get isStuck(): boolean {
    return [...this.#ownerships.values()].some((ownership) => ownership.isStuck)
  }

  /** @internal What the next pulse tells; null: it has not joined. */
  beat(): Beat | null {
    if (!this.#isMember) return null
    this.#noticeDoubt()
    const { timing } = this.#parts
    const ownerships = [...this.#ownerships.values()]
    return {
      member: this.#id,
      leaseMs: timing.leaseMs,
      leads: this.#parts.about().leads && !this.#isLeaving,
      health: this.#parts.health(),
      holding: Object.fromEntries(ownerships.map((each) => [each.resource.name, each.holding()])),
      refused: ownerships.flatMap((each) => each.refused()),
    }
  }

  /** @internal Takes in what a pulse answered. */
  hear({ beaten, now, generation }: Pulse, sent: SentPulse): void {
    if (beaten === null || !this.#isMember || sent.member !== this.#id) return
    // What it was answered in another generation counts no more, nor does any epoch that it holds. [G6]
    const isOther = this.#generation !== null && this.#generation !== generation
    this.#generation = generation
    if (beaten.known && !isOther) this.#takeIn(beaten, now, sent)
    else this.#lost()
  }

  #takeIn(beaten: Beaten & { known: true }, now: number, sent: Sent): void {
    const { timing } = this.#parts
    if (this.#trust.renew(sent)) for (const each of this.#ownerships.values()) each.wake()
    // Not by the heartbeat before: beats that waited out an outage may all have landed at its end, in one step.
    if (now - Math.min(this.#heardAt, beaten.previousAt) > timing.gapMs) this.#gapEndedAt = now
    // A clock that was set back has not come as far yet. [K6]
    this.#gapEndedAt = Math.min(this.#gapEndedAt, now)
    this.#heardAt = now
    const wasLeading = this.#leader?.member === this.#id ? this.#leader.term : null
    this.#leader = beaten.leader
    const term = beaten.leader?.member === this.#id ? beaten.leader.term : null
    if (term !== wasLeading) this.#parts.telemetry.emit('roster.leading', { term })
    const mustLead =
      term !== null && (term !== wasLeading || beaten.silent.length > 0 || now >= this.#sweepAt)
    this.#noticeTrust()
    const isNews = beaten.version !== this.#version || mustLead || this.#unfinished
    if (isNews && !this.#isLeaving) this.#follow()
  }

  /** Pulses go on while the store does not answer, so a doubt is noticed with one of them. */
  #noticeDoubt(): void {
    if (this.#standing !== 'trusted' || this.#trust.holds) return
    this.#standing = 'doubted'
    this.#parts.telemetry.emit('roster.doubted', { id: this.#id })
  }

  #noticeTrust(): void {
    if (!this.#trust.holds) return
    if (this.#standing === 'doubted') this.#parts.telemetry.emit('roster.trusted', { id: this.#id })
    this.#standing = 'trusted'
  }

  /** Declared dead, or of a history that is gone: it holds nothing any more, and joins under another id. [G2] */
  #lost(): void {
    this.#trust.lose()
    for (const ownership of this.#ownerships.values()) ownership.drop()
    this.#parts.telemetry.emit('roster.lost', { id: this.#id })
    this.#isMember = false
    this.#leader = null
    this.#id = this.#parts.clock.id()
    if (!this.#isLeaving) this.#rejoin()
  }

  #rejoin(): void {
    const { clock, timing, telemetry } = this.#parts
    this.#joining = this.#join().catch((error: unknown) => {
      telemetry.emit('roster.failed', { error })
      clock.timer(timing.pulseMs, () => this.service.state === 'running' && this.#rejoin(), {
        background: true,
      })
    })
  }

  async #join(): Promise<void> {
    const { store, telemetry } = this.#parts
    const { member, resources } = this.#announced.introduce(this.#id, this.#resources())
    await store.roster.join(member, resources)
    this.#isMember = true
    this.#version = -1
    this.#heardAt = -Infinity
    this.#standing = 'new'
    telemetry.emit('roster.joined', { id: this.#id })
    this.#parts.pulseSoon()
  }

  #resources(): Resource[] {
    return [...this.#ownerships.values()].map(({ resource }) => resource)
  }

  /** One look at a time; what changes during one is seen by the next. */
  #follow(): void {
    if (this.#following !== null) {
      this.#mustLookAgain = true
      return
    }
    this.#mustLookAgain = false
    this.#unfinished = false
    this.#following = this.#look()
      .catch((error: unknown) => {
        this.#unfinished = true
        this.#parts.telemetry.emit('roster.failed', { error })
      })
      .finally(() => {
        this.#following = null
        // A member that leaves has released what it had, and raises nothing any more.
        if (this.#mustLookAgain && this.#isMember && !this.#isLeaving) this.#follow()
      })
  }

  async #look(): Promise<void> {
    for (;;) {
      const view = await this.#parts.store.roster.view()
      this.#view = view
      await this.#obey(view)
      const told = await this.#announced.catchUp(view, this.#id, this.#resources())
      const led = await this.#lead(view)
      // What it has just written may concern itself.
      if (told || led === 'again') continue
      if (led === 'later') this.#unfinished = true
      // Written last: a look that failed on the way is made again.
      this.#version = view.version
      return
    }
  }

  /** Raises what it was given, and hands over what it shall give. */
  async #obey(view: RosterView): Promise<void> {
    const { store, telemetry } = this.#parts
    for (const ownership of this.#ownerships.values()) {
      const { name } = ownership.resource
      const mine = view.allotments.filter(({ resource, owner }) => resource === name && owner === this.#id)
      const asked = ownership.follow(mine)
      void this.#handOver.begin(ownership, mine)
      if (asked.length === 0) continue
      const claim = { owner: this.#id, held: asked, concurrency: ownership.concurrency }
      const answers = await store.fences.raise(name, claim)
      ownership.raised(asked, answers)
      const refused = answers.filter(({ raised }) => !raised).length
      telemetry.emit('roster.raised', { resource: name, raised: answers.length - refused, refused })
      if (refused > 0) this.#parts.pulseSoon()
    }
  }

  /** `again`: something was written. `later`: something could not be. */
  async #lead(view: RosterView): Promise<'done' | 'again' | 'later'> {
    const { store, timing, telemetry } = this.#parts
    if (this.#leader?.member !== this.#id) return 'done'
    if (!this.#trust.holds) return 'later'
    const mayJudgeFrom = this.#gapEndedAt + timing.leaseMs
    const decision = lead(view, { leader: this.#leader, timing, mayJudgeFrom })
    if (decision === null) return this.#sweep(view)
    const { kind, applied } = { applied: 0, ...(await store.roster.decide(decision)) }
    const dead = kind === 'decided' ? decision.dead.length : 0
    telemetry.emit('roster.decided', { kind, dead, changes: applied })
    return applied > 0 ? 'again' : 'later'
  }

  /** Marks the shares that nobody collects, and removes those that were so for long. [Q11] */
  async #sweep(view: RosterView): Promise<'done' | 'again'> {
    const { roster } = this.#parts.store
    const { idle, busy, expired, nextAt } = idleShares(view)
    this.#sweepAt = nextAt
    if (idle.length + busy.length > 0) await roster.markIdle({ idle, busy })
    const removed = expired.length > 0 ? await roster.forget(expired, SHARE_IDLE_MS) : []
    return idle.length + busy.length + removed.length > 0 ? 'again' : 'done'
  }

  /** Takes no more, waits for what is in flight while it goes on to beat, hands over, and is gone. [H3] [H4] */
  async #leave(): Promise<void> {
    await this.#joining
    if (!this.#isMember) return
    const { store, telemetry } = this.#parts
    this.#isLeaving = true
    await this.#following
    await Promise.all([...this.#ownerships.values()].map((each) => this.#handOver.drain(each)))
    this.#isMember = false
    try {
      await store.roster.leave(this.#id, legacyOf(await store.roster.view(), this.#id))
      telemetry.emit('roster.left', { id: this.#id })
    } catch (error) {
      // The others wait for its lease to run out, as after a crash.
      telemetry.emit('roster.failed', { error })
    }
    this.#trust.lose()
  }
}
