// What counts as a partition that two members believe to own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fence } from '../../../src/fence.ts'
import { countPartitions, overlapsOf } from '../../../src/roster/overlap.ts'
import type { Member } from '../../../src/roster/store.ts'
import { NOW, RESOURCE, fence, member, view } from './sample-view.ts'

const TRUST_MS = 2500

/** How many partitions overlap, when these members say so and these fences stand. */
function overlap(members: Member[], fences: Fence[]): number {
  return countPartitions(overlapsOf(view(members), new Map([[RESOURCE, fences]]), TRUST_MS))
}

function holds(id: string, epoch: number, changes: Partial<Member> = {}): Member {
  return member(id, { holding: { [RESOURCE]: [{ partition: 0, epoch }] }, ...changes })
}

const cases: [title: string, member: Member, fence: Fence | null, count: number][] = [
  ['that stands as the member says', holds('a', 2), fence(0, 'a', { epoch: 2 }), 0],
  ['at a higher epoch', holds('a', 1), fence(0, 'b', { epoch: 2 }), 1],
  ['at a higher epoch of its own', holds('a', 1), fence(0, 'a', { epoch: 2 }), 1],
  ['at the same epoch for another', holds('a', 2), fence(0, 'b', { epoch: 2 }), 1],
  ['that it has not raised yet', holds('a', 3), fence(0, 'b', { epoch: 2 }), 0],
  ['that nobody ever raised', holds('a', 1), null, 0],
  ['raised after its beat', holds('a', 1), fence(0, 'b', { epoch: 2, raisedAt: NOW - 50 }), 0],
  ['raised with its beat', holds('a', 1), fence(0, 'b', { epoch: 2, raisedAt: NOW - 100 }), 0],
  ['raised just before its beat', holds('a', 1), fence(0, 'b', { epoch: 2, raisedAt: NOW - 101 }), 1],
]

for (const [title, said, stands, count] of cases) {
  test(`[O1] a fence ${title} is an overlap of ${count}`, () => {
    assert.equal(overlap([said], stands === null ? [] : [stands]), count)
  })
}

test('[O1] what a member said that trusts itself no more does not count', () => {
  const stands = fence(0, 'b', { epoch: 2, raisedAt: NOW - 60_000 })
  assert.equal(overlap([holds('a', 1, { heartbeatAt: NOW - TRUST_MS + 1 })], [stands]), 1)
  assert.equal(overlap([holds('a', 1, { heartbeatAt: NOW - TRUST_MS })], [stands]), 0)
})

test('[O1] a partition counts once, however many members believe to own it', () => {
  const stands = fence(0, 'c', { epoch: 5 })
  const members = [holds('a', 1), holds('b', 2), holds('c', 5)]
  assert.equal(overlap(members, [stands]), 1)
  const overlaps = overlapsOf(view(members), new Map([[RESOURCE, [stands]]]), TRUST_MS)
  assert.deepEqual(
    overlaps.map(({ member, epoch, fence }) => ({ member, epoch, fence })),
    [
      { member: 'a', epoch: 1, fence: { owner: 'c', epoch: 5 } },
      { member: 'b', epoch: 2, fence: { owner: 'c', epoch: 5 } },
    ],
  )
})
