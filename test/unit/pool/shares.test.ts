// How members share the limits of a pool, as a pure function: many members that come, go, die, and see old versions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Control, type Limits, NO_CONTROL } from '../../../src/pool/control.ts'
import { type Own, fairShares, reshare, withLimits, withoutShare } from '../../../src/pool/shares.ts'
import { type Random, createRandom } from '../../../src/random.ts'

const limitsOf = (concurrency: number, count: number): Limits => {
  return { ...NO_CONTROL.limits, pool: { concurrency, rate: { count, perMs: 1000 } } }
}

const ownOf = (member: string, given: Partial<Own> = {}): Own => {
  return {
    member,
    now: 0,
    roster: null,
    used: { concurrency: 0, rate: 0 },
    wants: { concurrency: 99, rate: 99 },
    ...given,
  }
}

const hasOf = ({ shares }: Control): Record<string, number[]> =>
  Object.fromEntries(shares.map(({ member, concurrency, rate }) => [member, [concurrency.has, rate.has]]))

test('[L19] each gets what it wants, or an equal part, and all of it is given out', () => {
  const wishes = (...wants: number[]) => wants.map((want, nth) => ({ member: `m${nth}`, wants: want }))
  const parts = (size: number, ...wants: number[]) => [...fairShares(size, wishes(...wants), 0).values()]
  assert.deepEqual(parts(50, 99, 99, 99), [16, 17, 17])
  assert.deepEqual(parts(50, 3, 99, 99), [3, 23, 24])
  assert.deepEqual(parts(50, 3, 4), [3, 4])
  assert.deepEqual(parts(50), [])
})

test('[L19] where there is less than one for each, every member has its turn', () => {
  const members = ['a', 'b', 'c', 'd', 'e'].map((member) => ({ member, wants: 9 }))
  const had = new Map<string, number>()
  for (let turn = 0; turn < 50; turn += 1) {
    const parts = fairShares(2, members, turn)
    assert.equal(
      [...parts.values()].reduce((sum, part) => sum + part, 0),
      2,
    )
    for (const [member, part] of parts) had.set(member, (had.get(member) ?? 0) + part)
  }
  assert.deepEqual([...had.values()], [20, 20, 20, 20, 20])
})

test('[L19] a newcomer takes what is free, says what it wants, and others give up what they do not use', () => {
  const first = reshare({ ...NO_CONTROL, limits: limitsOf(10, 50) }, ownOf('a'))
  assert.deepEqual([first.isChanged, hasOf(first.control)], [true, { a: [10, 50] }])
  const second = reshare(first.control, ownOf('b'))
  assert.deepEqual(
    [second.isChanged, hasOf(second.control)['b'], second.caps],
    [true, [0, 0], { concurrency: 0, rate: 0 }],
  )
  const used = { concurrency: 8, rate: 20 }
  const given = reshare(second.control, ownOf('a', { used }))
  assert.deepEqual([hasOf(given.control)['a'], given.caps], [[8, 25], { concurrency: 5, rate: 25 }])
  const taken = reshare(given.control, ownOf('b'))
  assert.deepEqual(hasOf(taken.control), { a: [8, 25], b: [2, 25] })
  assert.equal(reshare(taken.control, ownOf('b')).isChanged, false)
})

test('[L19] nobody gives up what nobody is short of', () => {
  const first = reshare({ ...NO_CONTROL, limits: limitsOf(10, 50) }, ownOf('a'))
  const idle = reshare(first.control, ownOf('a', { wants: { concurrency: 0, rate: 0 } }))
  assert.deepEqual([idle.isChanged, hasOf(idle.control)], [false, { a: [10, 50] }])
})

test('[L20] who is gone is known by a roster that is not older, and its starts count for a span', () => {
  const roster = { version: 5, members: new Set(['a']) }
  const first = reshare({ ...NO_CONTROL, limits: limitsOf(10, 50) }, ownOf('a', { roster }))
  const b = (version: number, now = 0) => ownOf('b', { now, roster: { version, members: new Set(['b']) } })
  assert.deepEqual(hasOf(reshare(first.control, b(4)).control)['b'], [0, 0])
  const seen = reshare(first.control, b(5))
  assert.deepEqual(hasOf(seen.control), { a: [0, 50], b: [10, 0] })
  const early = reshare(seen.control, b(5, 1000))
  assert.deepEqual(hasOf(early.control)['b'], [10, 0])
  assert.deepEqual(hasOf(reshare(early.control, b(5, 1500)).control), { b: [10, 50] })
})

test('[L20] who stops leaves only what its last starts count for', () => {
  const first = reshare({ ...NO_CONTROL, limits: limitsOf(10, 50) }, ownOf('a'))
  const without = (control: Control, concurrency: number, rate: number): ReturnType<typeof withoutShare> =>
    withoutShare(control, 'a', { now: 100, used: { concurrency, rate } })
  const { control: left } = without(first.control, 0, 7)
  assert.deepEqual(hasOf(left), { a: [0, 7] })
  assert.deepEqual(hasOf(reshare(left, ownOf('b', { now: 200 })).control), { a: [0, 7], b: [10, 43] })
  assert.deepEqual(without(first.control, 0, 0).control.shares, [])
  const { control: used, isChanged } = without(first.control, 3, 7)
  assert.deepEqual([hasOf(used), isChanged], [{ a: [3, 7] }, true])
  assert.deepEqual(hasOf(reshare(used, ownOf('b', { now: 200 })).control), { a: [3, 7], b: [7, 43] })
  assert.equal(without(used, 3, 7).isChanged, false)
})

test('[L21] a lower limit is told to each, and nobody takes more before they have come down', () => {
  let control = reshare({ ...NO_CONTROL, limits: limitsOf(10, 50) }, ownOf('a')).control
  control = withLimits(control, limitsOf(4, 50), 0)
  assert.deepEqual([control.shares[0]?.concurrency.has, control.shares[0]?.concurrency.cut], [10, 4])
  control = withLimits(control, limitsOf(9, 50), 0)
  assert.deepEqual(hasOf(reshare(control, ownOf('b')).control)['b']?.[0], 0)
  const down = reshare(control, ownOf('a', { used: { concurrency: 6, rate: 0 } }))
  assert.deepEqual([hasOf(down.control)['a']?.[0], down.caps.concurrency], [9, 9])
})

test('[L21] who has come down to its part of a lower limit takes part again', () => {
  const { control } = reshare({ ...NO_CONTROL, limits: limitsOf(2, 50) }, ownOf('a'))
  const cut = control.shares.map((share) => ({ ...share, concurrency: { ...share.concurrency, cut: 0 } }))
  const again = reshare({ ...control, shares: cut }, ownOf('a'))
  assert.deepEqual(again.control.shares[0]?.concurrency, { has: 2, wants: 2, cut: null })
  assert.equal(again.caps.concurrency, 2)
  const busy = reshare({ ...control, shares: cut }, ownOf('a', { used: { concurrency: 1, rate: 0 } }))
  assert.deepEqual(busy.control.shares[0]?.concurrency, { has: 1, wants: 2, cut: 0 })
  assert.equal(busy.caps.concurrency, 0)
})

/** A member that may be behind, and whose writes may not be answered. */
interface Member {
  id: string
  used: number
  cap: number
  seen: { version: number; control: Control } | null
}

/** Each member steps on what it saw last; a write lands if the version is still that one. */
function step(member: Member, stored: { version: number; control: Control }, random: Random): void {
  if (member.seen === null || random.below(2) === 0) member.seen = { ...stored }
  const own = ownOf(member.id, {
    now: random.below(5000),
    used: { concurrency: member.used, rate: 0 },
    wants: { concurrency: random.below(6), rate: 0 },
  })
  const { control, isChanged, caps } = reshare(member.seen.control, own)
  member.cap = Math.min(member.cap, caps.concurrency)
  if (!isChanged) return
  if (member.seen.version !== stored.version) return void (member.seen = null)
  stored.version += 1
  stored.control = control
  member.seen = { ...stored }
  member.cap = caps.concurrency
}

test('[L17] [L18] whatever members see and however they step, together they never use more than the limit', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = createRandom(seed)
    const size = 1 + random.below(8)
    const limits = { ...NO_CONTROL.limits, pool: { concurrency: size, rate: null } }
    const stored = { version: 0, control: { ...NO_CONTROL, limits } as Control }
    const members: Member[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, used: 0, cap: 0, seen: null }))
    let most = 0
    for (let nth = 0; nth < 400; nth += 1) {
      const member = random.pick(members)
      const what = random.below(3)
      if (what === 0) step(member, stored, random)
      else if (what === 1 && member.used < member.cap) member.used += 1
      else member.used = Math.max(0, member.used - 1)
      const used = members.reduce((sum, each) => sum + each.used, 0)
      assert.ok(used <= size, `seed ${seed}: ${used} of ${size}`)
      most = Math.max(most, used)
    }
    assert.ok(most > 0, `seed ${seed}: nothing ran`)
  }
})
