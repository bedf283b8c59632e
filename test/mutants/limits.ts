// Bugs of limits and pauses: shares of members, groups, rates.
import type { Mutant } from './mutant.ts'

export const limitMutants: Mutant[] = [
  {
    name: 'group-counts-from-its-limit-on',
    file: 'src/pool/group-limits.ts',
    find: 'if (this.isLimited) for (const { taken } of running) this.#of(taken).running += 1',
    replace: 'if (this.isLimited) for (const { taken } of running) this.#of(taken)',
    breaks: 'runs of a group that began before its limit was changed do not count',
    rule: 'L13',
    caughtBy: { seeds: 1000, breaking: ['[L13]'] },
  },
  {
    name: 'new-owner-starts-at-once',
    file: 'src/pool/group-limits.ts',
    find: 'this.#heldSince.set(partition, { epoch, at: epoch === 1 ? -Infinity : this.#parts.mono() })',
    replace: 'this.#heldSince.set(partition, { epoch, at: -Infinity })',
    breaks: 'a new owner starts runs under a rate, though it does not know what was started before',
    rule: 'L15',
    caughtBy: { seeds: 600, breaking: ['[L14]'] },
  },
  {
    name: 'newcomer-held-for-gone',
    file: 'src/pool/shares.ts',
    find: 'const isGone = roster !== null && roster.version >= share.seenIn && !roster.members.has(share.member)',
    replace: 'const isGone = roster !== null && !roster.members.has(share.member)',
    breaks: 'a member that is younger than the roster that was seen loses its share',
    rule: 'L20',
    caughtBy: {
      file: 'test/unit/pool/shares.test.ts',
      test: '[L20] who is gone is known by a roster that is not older, and its starts count for a span',
    },
  },
  {
    name: 'pause-ignored-while-at-work',
    file: 'src/pool/limiter.ts',
    find: 'return pauseAt(this.#control, this.#parts.time.now())',
    replace: 'return this.#underWay > 0 ? null : pauseAt(this.#control, this.#parts.time.now())',
    breaks: 'a member that has runs under way goes on as if the pool were not paused',
    rule: 'L12',
    caughtBy: { seeds: 200, breaking: ['[L12]'] },
  },
  {
    name: 'rate-by-its-beginning',
    file: 'src/pool/sliding-log.ts',
    find: 'const endsAt = (Math.floor(now / this.#stepMs) + 1) * this.#stepMs + this.perMs',
    replace: 'const endsAt = Math.floor(now / this.#stepMs) * this.#stepMs + this.perMs',
    breaks: 'a start counts a step less than its span',
    rule: 'L14',
    caughtBy: {
      file: 'test/unit/pool/sliding-log.test.ts',
      test: '[L14] in no span of time do more start than may, and as many do within a thousandth of it',
    },
  },
  {
    name: 'share-counted-twice',
    file: 'src/pool/shares.ts',
    find: 'const free = size - sum(others, kind) - keeps',
    replace: 'const free = size - sum(others.slice(1), kind) - keeps',
    breaks: 'what one member has is taken by another, too',
    rule: 'L17',
    caughtBy: { seeds: 200, breaking: ['[L17]'] },
  },
  {
    name: 'share-given-up-while-used',
    file: 'src/pool/shares.ts',
    find: 'const keeps = Math.min(part.has, Math.max(Math.min(part.cut ?? Infinity, fairly), own.used[kind]))',
    replace: 'const keeps = Math.min(part.has, part.cut ?? Infinity, fairly)',
    breaks: 'a member gives up a part of a limit that its runs use',
    rule: 'L18',
    caughtBy: {
      file: 'test/unit/pool/shares.test.ts',
      test: '[L17] [L18] whatever members see and however they step, together they never use more than the limit',
    },
  },
]
