// Which runs are suspects after a take-over, and what becomes of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TakenRun } from '../../../src/pool/entry.ts'
import { Solitude } from '../../../src/pool/solitude.ts'
import { Suspicion } from '../../../src/pool/suspicion.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

let turns = 0
const RUN = { pool: 'p', key: 'k' }

const run = (crashes = 0, partition = 0): TakenRun => {
  const turn = (turns += 1)
  return {
    key: `k${turn}`,
    slot: null,
    group: 'g',
    partition,
    turn,
    dueAt: 0,
    seen: 1,
    payload: null,
    attempt: 0,
    crashes,
    putAt: 0,
  }
}

test('[X44] twice as many as the owner before had under way are suspects, in each partition that it had', () => {
  const suspicion = new Suspicion()
  suspicion.follow([
    { partition: 0, epoch: 2, suspects: 2 },
    { partition: 1, epoch: 2, suspects: 0 },
  ])
  const kinds = Array.from({ length: 6 }, () => suspicion.look(run(), 'normal').kind)
  assert.deepEqual(kinds, ['mark', 'mark', 'mark', 'mark', 'start', 'start'])
  assert.equal(suspicion.look(run(0, 1), 'normal').kind, 'start')
  suspicion.follow([{ partition: 0, epoch: 2, suspects: 2 }])
  assert.equal(suspicion.look(run(), 'normal').kind, 'start')
})

test('[X44] [V18] a flood in one lane leaves the suspects of the others', () => {
  const suspicion = new Suspicion()
  suspicion.follow([{ partition: 0, epoch: 2, suspects: 3 }])
  for (let nth = 0; nth < 100; nth += 1) suspicion.look(run(), 'fanout')
  for (const lane of ['normal', 'bulk'] as const)
    assert.deepEqual(suspicion.look(run(), lane), { kind: 'mark', marks: 1 })
})

test('[X44] a run that a process marked and let go is not marked again by it, unless another has marked it since', () => {
  const suspicion = new Suspicion()
  suspicion.follow([{ partition: 0, epoch: 2, suspects: 3 }])
  const suspect = run()
  assert.deepEqual(suspicion.look(suspect, 'normal'), { kind: 'mark', marks: 1 })
  suspicion.marked(suspect, 1)
  suspicion.follow([])
  suspicion.follow([{ partition: 0, epoch: 4, suspects: 3 }])
  assert.equal(suspicion.look({ ...suspect, crashes: 1 }, 'normal').kind, 'start')
  assert.deepEqual(suspicion.look({ ...suspect, crashes: 2 }, 'normal'), { kind: 'dead' })
  suspicion.marked(suspect, 2)
  assert.deepEqual(suspicion.look({ ...suspect, crashes: 2 }, 'normal'), { kind: 'alone', marks: null })
})

test('[X45] [X46] a suspect is alone at 2 and dead at 3; who has 2 and is none is alone without a mark', () => {
  const suspicion = new Suspicion()
  assert.deepEqual(suspicion.look(run(2), 'normal'), { kind: 'alone', marks: null })
  assert.equal(suspicion.look(run(1), 'normal').kind, 'start')
  suspicion.follow([{ partition: 0, epoch: 2, suspects: 5 }])
  assert.deepEqual(suspicion.look(run(1), 'normal'), { kind: 'alone', marks: 2 })
  assert.deepEqual(suspicion.look(run(2), 'normal'), { kind: 'dead' })
})

test('[X44] a suspect that does not start, or is dead, counts for none', () => {
  const suspicion = new Suspicion()
  suspicion.follow([{ partition: 0, epoch: 2, suspects: 1 }])
  assert.equal(suspicion.look(run(2), 'normal').kind, 'dead')
  assert.equal(suspicion.look(run(), 'normal').kind, 'mark')
  assert.equal(suspicion.look(run(), 'normal').kind, 'mark')
  assert.equal(suspicion.look(run(), 'normal').kind, 'start')
  suspicion.unstarted({ partition: 0, epoch: 1 }, 'normal')
  assert.equal(suspicion.look(run(), 'normal').kind, 'start')
  suspicion.unstarted({ partition: 0, epoch: 2 }, 'normal')
  assert.equal(suspicion.look(run(), 'normal').kind, 'mark')
  assert.equal(suspicion.look(run(), 'normal').kind, 'start')
})

test('[X44] what is granted anew to its owner keeps the suspects that are left, and what was lost meanwhile does not', () => {
  const suspicion = new Suspicion()
  suspicion.follow([{ partition: 0, epoch: 2, suspects: 1 }])
  assert.equal(suspicion.look(run(), 'normal').kind, 'mark')
  suspicion.follow([], [0])
  suspicion.follow([{ partition: 0, epoch: 3, suspects: 0 }], [0])
  suspicion.unstarted({ partition: 0, epoch: 2 }, 'normal')
  assert.equal(suspicion.look(run(), 'normal').kind, 'mark')
  assert.equal(suspicion.look(run(), 'normal').kind, 'mark')
  assert.equal(suspicion.look(run(), 'normal').kind, 'start')
  suspicion.follow([], [])
  suspicion.follow([{ partition: 0, epoch: 5, suspects: 0 }], [0])
  assert.equal(suspicion.look(run(), 'bulk').kind, 'start')
})

/** Two workers of one member, with runs that a test ends. */
function neighbours() {
  const clock = new VirtualClock()
  const solitude = new Solitude(clock, 30_000)
  const log: string[] = []
  const workers = ['a', 'b'].map((name) => {
    const worker = { runs: 1, busy: () => worker.runs, wake: () => void log.push(`wake ${name}`) }
    solitude.join(worker)
    return worker
  })
  return { clock, solitude, log, a: workers[0] as (typeof workers)[0], b: workers[1] as (typeof workers)[0] }
}

test('[X45] a run is alone when the runs of every worker of its member have ended, and then all may start again', () => {
  const { solitude, log, a, b } = neighbours()
  solitude.take(a, RUN, () => void log.push('begin'))
  a.runs = 0
  solitude.look()
  assert.deepEqual([log, solitude.isTaken], [[], true])
  b.runs = 0
  solitude.look()
  assert.deepEqual(log, ['begin'])
  solitude.leave(b)
  assert.equal(solitude.isTaken, true)
  solitude.leave(a)
  assert.deepEqual([log, solitude.isTaken], [['begin', 'wake b', 'wake a'], false])
})

test('[X45] a run that waits to be alone waits no longer than the drain time', async () => {
  const { clock, solitude, log, a } = neighbours()
  solitude.take(a, RUN, () => void log.push('begin'))
  await clock.advance(29_000)
  assert.deepEqual(log, [])
  await clock.advance(2000)
  assert.deepEqual([log, solitude.isTaken], [['begin'], true])
  solitude.part(a)
  assert.equal(solitude.isTaken, false)
})
