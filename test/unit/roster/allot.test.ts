// The pure plan: balanced, sticky, few moves, deterministic.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../src/random.ts'
import { type Candidate, type Plan, allot } from '../../../src/roster/allot.ts'

const member = (id: string, weight = 1, serves = ['r']): Candidate => ({ id, weight, serves })

function start(partitions: number, resource = 'r'): { resource: string; owners: (string | null)[] } {
  return { resource, owners: Array.from({ length: partitions }, () => null) }
}

function owners(plan: Plan, resource = 'r'): (string | null)[] {
  return [...(plan.get(resource) ?? [])]
}

function again(plan: Plan): { resource: string; owners: (string | null)[] }[] {
  return [...plan].map(([resource, all]) => ({ resource, owners: [...all] }))
}

function sorted(plan: Plan): [string, readonly (string | null)[]][] {
  return [...plan].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function moves(before: Plan, after: Plan): number {
  return [...before].reduce((sum, [resource, all]) => {
    return sum + all.filter((owner, index) => owner !== after.get(resource)?.[index]).length
  }, 0)
}

function counts(plan: Plan): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const owner of [...plan.values()].flat())
    counted[owner ?? 'none'] = (counted[owner ?? 'none'] ?? 0) + 1
  return counted
}

const three = [member('a'), member('b'), member('c')]

test('[A1] every partition has an owner, and shares differ by at most one', () => {
  assert.deepEqual(counts(allot(three, [start(32)])), { a: 11, b: 11, c: 10 })
})

test('[A1] a fourth member moves at most a quarter of the partitions, and its leaving only its own', () => {
  for (const partitions of [1, 2, 3, 7, 32, 100, 1024]) {
    const before = allot(three, [start(partitions)])
    const after = allot([...three, member('d')], again(before))
    assert.ok(moves(before, after) <= Math.ceil(partitions / 4), `${partitions} partitions`)
    const back = allot(three, again(after))
    const own = owners(after).filter((owner) => owner === 'd').length
    assert.equal(moves(after, back), own, `${partitions} partitions`)
  }
})

test('[A1] a balanced plan stays as it is, in whatever order members and resources are listed', () => {
  const plan = allot(three, [start(32, 'r'), start(5, 's')])
  const reversed = allot([...three].reverse(), again(plan).reverse())
  assert.deepEqual(sorted(reversed), sorted(plan))
})

test('[A1] shares go by weight', () => {
  const plan = allot([member('a', 3), member('b', 1)], [start(32)])
  assert.deepEqual(counts(plan), { a: 24, b: 8 })
})

test('[A1] a partition goes to those who serve its resource, and to nobody if none does', () => {
  const members = [member('old', 1, ['r']), member('new', 1, ['r', 's'])]
  const plan = allot(members, [start(4, 'r'), start(4, 's'), start(2, 't')])
  assert.deepEqual(new Set(owners(plan, 's')), new Set(['new']))
  assert.deepEqual(owners(plan, 't'), [null, null])
})

test('[A1] many resources of one partition are spread over the members', () => {
  const names = Array.from({ length: 20 }, (_, nth) => `r${nth}`)
  const all = (id: string): Candidate => member(id, 1, names)
  const alone = allot(
    [all('a')],
    names.map((name) => start(1, name)),
  )
  const both = allot([all('a'), all('b')], again(alone))
  assert.deepEqual(counts(both), { a: 10, b: 10 })
  assert.equal(moves(alone, both), 10)
})

test('[A1] 2,000 random rosters: within the share, no more moves than needed, and settled after one step', () => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const random = createRandom(seed)
    const names = ['r', 's', 't'].slice(0, 1 + random.below(3))
    const draw = (prefix: string, count: number): Candidate[] =>
      Array.from({ length: count }, (_, nth) => ({
        id: `${prefix}${(nth * 7 + random.below(3)) % 29}-${nth}`,
        weight: 1 + random.below(3),
        serves: names.filter(() => random.below(4) > 0),
      }))
    const members = draw('m', 1 + random.below(6))
    const before = allot(
      members,
      names.map((name) => start(1 + random.below(40), name)),
    )
    const changed = [
      ...members.filter(() => random.below(4) > 0),
      ...draw(random.below(2) === 0 ? 'a' : 'z', random.below(3)),
    ]
    const after = allot(changed, again(before))
    assert.equal(moves(after, allot(changed, again(after))), 0, `seed ${seed}: the plan is not settled`)
    for (const [resource, all] of after) {
      const able = changed.filter(({ serves }) => serves.includes(resource))
      const weights = able.reduce((sum, { weight }) => sum + weight, 0)
      for (const { id, weight } of able) {
        const share = (all.length * weight) / weights
        const has = all.filter((owner) => owner === id).length
        assert.ok(has >= Math.floor(share) && has <= Math.ceil(share), `seed ${seed}: ${has} of ${share}`)
      }
    }
  }
})
