// Bugs of the roster: heartbeats, leases and terms, judging the dead, allotments, hand-overs, trust, generations.
import type { Mutant } from './mutant.ts'

export const rosterMutants: Mutant[] = [
  {
    name: 'former-leader-decides',
    file: 'src/stores/memory/roster.ts',
    find: 'if (lease === null || lease.member !== leader || lease.term !== term || lease.expiresAt <= now) {',
    replace: 'if (lease === null || lease.term < term) {',
    breaks: 'who led once decides under a lease that is over',
    rule: 'K2',
    caughtBy: { seeds: 800, breaking: ['[K2]'] },
  },
  {
    name: 'gap-by-own-heartbeat-alone',
    file: 'src/roster/roster.ts',
    find: 'if (now - Math.min(this.#heardAt, beaten.previousAt) > timing.gapMs) this.#gapEndedAt = now',
    replace:
      'if (this.#heardAt === -Infinity || now - beaten.previousAt > timing.gapMs) this.#gapEndedAt = now',
    breaks: 'a leader that heard nothing for long, but whose beats all landed, sees no gap',
    rule: 'K5',
    caughtBy: { seeds: 400, breaking: ['[K5]'] },
  },
  {
    name: 'hand-over-once',
    file: 'src/roster/hand-over.ts',
    find: 'this.#underWay.delete(ownership)',
    replace: 'if (revoked.length === 0) this.#underWay.delete(ownership)',
    breaks: 'after one hand-over of a resource there is no other',
    rule: 'A3',
    caughtBy: { seeds: 400, breaking: ['[A3]'] },
  },
  {
    name: 'leader-judges-without-own-beat',
    file: 'src/stores/memory/roster.ts',
    find: "if (own === undefined || own.heartbeatAt < now - gapMs) return { kind: 'unsure' }",
    replace:
      "if (own === undefined || own.heartbeatAt < now - Math.max(gapMs, leaseMs)) return { kind: 'unsure' }",
    breaks: 'a leader declares others dead, and has long not beaten itself',
    rule: 'K3',
    caughtBy: { seeds: 400, breaking: ['[K3]'] },
  },
  {
    name: 'lease-taken-before-its-end',
    file: 'src/stores/memory/roster.ts',
    find: 'const isFree = this.#leader === null || this.#leader.expiresAt <= now',
    replace: 'const isFree = this.#leader === null || this.#leader.expiresAt <= now + leaseMs / 2',
    breaks: 'a lease is taken from a leader that has not renewed it for half of it',
    rule: 'K1',
    caughtBy: { seeds: 50, breaking: ['[K1]'] },
  },
  {
    name: 'leave-keeps-the-lease',
    file: 'src/stores/memory/roster.ts',
    find: `this.#stepDown(id)
    if (this.#members.delete(id)) this.#changed()`,
    replace: 'if (this.#members.delete(id)) this.#changed()',
    breaks: 'a leader that leaves keeps its lease to its end',
    rule: 'G3',
    caughtBy: { seeds: 50, breaking: ['[G3]'] },
  },
  {
    name: 'living-declared-dead',
    edits: [
      {
        file: 'src/roster/lead.ts',
        find: 'const silentSince = view.now - timing.leaseMs',
        replace: 'const silentSince = view.now - timing.leaseMs / 2',
      },
      {
        file: 'src/stores/memory/roster.ts',
        find: 'if (dead.some((id) => (this.#members.get(id)?.heartbeatAt ?? -Infinity) >= now - leaseMs)) {',
        replace:
          'if (dead.some((id) => (this.#members.get(id)?.heartbeatAt ?? -Infinity) >= now - leaseMs / 2)) {',
      },
    ],
    breaks: 'a member that has not beaten for half a lease is declared dead',
    rule: 'K3',
    caughtBy: { seeds: 50, breaking: ['[K3]'] },
  },
  {
    name: 'lost-member-keeps-what-it-held',
    file: 'src/roster/roster.ts',
    find: 'for (const ownership of this.#ownerships.values()) ownership.drop()',
    replace: '',
    breaks: 'a member that was declared dead goes on with what it held',
    rule: 'G2',
    caughtBy: { seeds: 50, breaking: ['[H1]'] },
  },
  {
    name: 'newcomer-gets-nothing',
    file: 'src/roster/plan.ts',
    find: 'if (planned === null || planned === current.owner) return null',
    replace: 'if (planned !== null || current.next === null) return null',
    breaks: 'who has partitions keeps them all, and a newcomer gets none',
    rule: 'A1',
    caughtBy: { seeds: 50, breaking: ['[A1]'] },
  },
  {
    name: 'other-generation-ignored',
    file: 'src/roster/roster.ts',
    find: 'if (beaten.known && !isOther) this.#takeIn(beaten, now, sent)',
    replace: 'if (beaten.known) this.#takeIn(beaten, now, sent)',
    breaks: 'a member that meets another generation keeps what it holds',
    rule: 'G6',
    caughtBy: {
      file: 'test/unit/roster/generation.test.ts',
      test: '[G6] a member that meets another generation gives up what it holds, and joins under another id',
    },
  },
  {
    name: 'partitions-of-the-dead-stay',
    file: 'src/roster/plan.ts',
    find: 'if (!alive.has(current.owner)) return planned === null ? null : { owner: planned, epoch, next: null }',
    replace:
      'if (!alive.has(current.owner) && planned === current.owner) return { owner: planned, epoch, next: null }',
    breaks: 'what a dead member had is granted to nobody',
    rule: 'A5',
    caughtBy: { seeds: 50, breaking: ['[A5]'] },
  },
  {
    name: 'revoke-without-drain',
    file: 'src/roster/hand-over.ts',
    find: `await ownership.idle(partitions, this.#parts.drainWithinMs)
      // What was granted anew meanwhile stays, and what runs there goes on. [A4]`,
    replace: `await ownership.idle(partitions, 0)
      // What was granted anew meanwhile stays, and what runs there goes on. [A4]`,
    breaks: 'a partition is handed over while its owner’s own work on it is under way',
    rule: 'H3',
    caughtBy: { seeds: 400, breaking: ['[H3]'] },
  },
  {
    name: 'same-id-after-death',
    file: 'src/roster/roster.ts',
    find: 'this.#id = this.#parts.clock.id()',
    replace: '',
    breaks: 'a member that was declared dead joins under the id it had',
    rule: 'G2',
    caughtBy: { seeds: 50, breaking: ['[G2]'] },
  },
  {
    name: 'set-back-keeps-heartbeats',
    file: 'src/stores/memory/roster.ts',
    find: 'if (member.heartbeatAt > now) this.#members.set(member.id, { ...member, heartbeatAt: now })',
    replace:
      'if (member.heartbeatAt === Infinity) this.#members.set(member.id, { ...member, heartbeatAt: now })',
    breaks: "who died before the store's clock was set back is judged when it has come so far again",
    rule: 'K6',
    caughtBy: { seeds: 25, breaking: ['[K3]'] },
  },
  {
    name: 'silent-members-kept',
    file: 'src/roster/lead.ts',
    find: '({ id, heartbeatAt }) => id !== leader.member && heartbeatAt < silentSince,',
    replace: '({ id, heartbeatAt }) => id !== leader.member && heartbeatAt < silentSince - 3_600_000,',
    breaks: 'nobody is ever declared dead',
    rule: 'K3',
    caughtBy: { seeds: 50, breaking: ['[K3]'] },
  },
  {
    name: 'trust-from-the-answer',
    file: 'src/roster/trust.ts',
    find: 'this.#sent = sent',
    replace: 'this.#sent = { mono: Math.max(this.#clock.mono(), sent.mono), wall: this.#clock.now() }',
    breaks: 'trust is counted from the answer to a beat, and not from before it was sent',
    rule: 'H2',
    caughtBy: { seeds: 400, breaking: ['[H2]'] },
  },
  {
    name: 'turns-repeat-after-going-back',
    edits: [
      {
        file: 'src/stores/memory/pools.ts',
        find: `const kept = new Map(this.all().map((pool) => [pool.settings.name, snapshotPool(pool)]))
    return (least) => {`,
        replace: `const turn = this.#turn
    const kept = new Map(this.all().map((pool) => [pool.settings.name, snapshotPool(pool)]))
    return () => {`,
      },
      {
        file: 'src/stores/memory/pools.ts',
        find: 'this.#turn = Math.max(this.#turn, least)',
        replace: 'this.#turn = turn',
      },
    ],
    breaks: 'a store that went back gives turns again that it had given before',
    rule: 'G6',
    caughtBy: { seeds: 150, breaking: ['[G6]'] },
  },
]
