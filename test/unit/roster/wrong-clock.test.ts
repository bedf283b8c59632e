// Ticks of a member whose clock is wrong: the store's clock says what is due, the member's own only how long it sleeps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'

const HOUR_MS = 3_600_000

/** Counts how often the member asks the store to move. */
function countMoves({ race }: ClusterMember): () => number {
  const { mover } = race.store
  const move = mover.move.bind(mover)
  let count = 0
  mover.move = (request) => {
    count += 1
    return move(request)
  }
  return () => count
}

for (const skewMs of [HOUR_MS, -HOUR_MS]) {
  test(`[T2] ticks move at their time, without polling, after a clock has jumped by ${skewMs / 60_000} minutes`, async () => {
    const cluster = new Cluster()
    const member = await cluster.add()
    await cluster.clock.advance(1000)
    const { pool, topic } = member.race.ticks()
    const now = cluster.clock.now()
    for (const inMs of [3000, 5000, 2 * HOUR_MS]) await pool.put(`in ${inMs}`, { at: now + inMs })
    member.clock.skewMs = skewMs
    const moves = countMoves(member)
    await cluster.clock.advance(6000)
    const pages = await Promise.all(
      Array.from({ length: 32 }, (_, partition) => topic.read(partition, 0, 10)),
    )
    const movedAt = pages.flatMap(({ events }) => events).map(({ time }) => time.getTime() - now)
    const [first = 0, second = 0, ...more] = movedAt.toSorted((a, b) => a - b)
    assert.ok(first >= 3000 && first < 3010 && second >= 5000 && second < 5010, movedAt.join(' '))
    assert.deepEqual(more, [])
    assert.ok(moves() < 20, `${moves()} moves`)
    await cluster.stop()
  })
}
