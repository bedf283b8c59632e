// Watches the roster from outside, after every step that may change it: a lease is taken when it is free, its holder alone
// decides, nobody who beats is declared dead, and an epoch of a partition has one owner.
import type { Beaten, Decided, Decision, Leader, RosterStore, RosterView } from '../../roster/store.ts'

export class RosterWitness {
  readonly #say: (violation: string) => void
  /** The lease as it stands. */
  #lease: Leader | null = null
  /** Who had beaten, and was declared dead. A join that was not answered is made again under the same id. */
  readonly #buried = new Set<string>()
  readonly #owners = new Map<string, { epoch: number; owner: string }>()

  constructor(say: (violation: string) => void) {
    this.#say = say
  }

  /** The same roster, watched. */
  wrap(roster: RosterStore): RosterStore {
    return {
      join: (member, resources) => {
        if (this.#buried.has(member.id)) this.#say(`[G2] ${member.id} joined again, and was declared dead`)
        return roster.join(member, resources)
      },
      serve: (member, resources) => roster.serve(member, resources),
      reach: (member, address) => roster.reach(member, address),
      view: () => roster.view(),
      drain: (member, draining) => roster.drain(member, draining),
      markIdle: (marks) => roster.markIdle(marks),
      forget: (resources, idleForMs) => roster.forget(resources, idleForMs),
      decide: async (decision) => {
        const before = await roster.view()
        const answer = await roster.decide(decision)
        this.#decided(decision, answer, before)
        this.#allotted(await roster.view())
        return answer
      },
      grant: async (owner, grants) => {
        const answers = await roster.grant(owner, grants)
        this.#allotted(await roster.view())
        return answers
      },
      leave: async (member, grants) => {
        await roster.leave(member, grants)
        this.#left(member, await roster.view())
      },
      stepDown: async (member) => {
        const answer = await roster.stepDown(member)
        this.#lease = (await roster.view()).leader
        return answer
      },
    }
  }

  /** The store went back to an earlier state: nobody leads. [G6] */
  wentBack(): void {
    this.#lease = null
  }

  /** A beat was answered at this time of the store. */
  beaten(beaten: Beaten, now: number): void {
    if (!beaten.known || beaten.leader === null) return
    const { leader } = beaten
    const before = this.#lease
    this.#lease = leader
    if (before !== null && leader.term !== before.term && before.expiresAt > now)
      this.#say(
        `[K1] ${leader.member} took the lease of ${before.member}, which had ${before.expiresAt - now} ms to go`,
      )
  }

  #decided({ leader, term, leaseMs, gapMs, dead }: Decision, answer: Decided, before: RosterView): void {
    if (answer.kind !== 'decided') return
    const { now, members } = before
    for (const { id, joinedAt, heartbeatAt } of members)
      if (dead.includes(id) && heartbeatAt > joinedAt) this.#buried.add(id)
    const lease = before.leader
    if (lease?.member !== leader || lease.term !== term || lease.expiresAt <= now)
      this.#say(`[K2] ${leader} decided in term ${term}, and does not lead in it`)
    const beatOf = (id: string): number =>
      members.find((member) => member.id === id)?.heartbeatAt ?? -Infinity
    const alive = dead.find((id) => beatOf(id) >= now - leaseMs)
    if (alive !== undefined) this.#say(`[K3] ${alive} was declared dead, and has beaten within its lease`)
    if (dead.length > 0 && beatOf(leader) < now - gapMs)
      this.#say(`[K3] ${leader} declared ${dead.join(' ')} dead, and has not beaten lately itself`)
  }

  #allotted({ allotments }: RosterView): void {
    for (const { resource, partition, owner, epoch } of allotments) {
      const name = `${resource}/${partition}`
      const known = this.#owners.get(name)
      this.#owners.set(name, { epoch, owner })
      if (known === undefined) continue
      if (epoch < known.epoch) this.#say(`[A2] the epoch of ${name} fell from ${known.epoch} to ${epoch}`)
      if (epoch === known.epoch && owner !== known.owner)
        this.#say(`[A2] ${name} went from ${known.owner} to ${owner} under epoch ${epoch}`)
    }
  }

  #left(member: string, view: RosterView): void {
    this.#allotted(view)
    this.#lease = view.leader
    const leads = view.leader?.member === member && view.leader.expiresAt > view.now
    if (leads || view.members.some(({ id }) => id === member))
      this.#say(`[G3] ${member} left, and ${leads ? 'leads' : 'is there'} all the same`)
  }
}
