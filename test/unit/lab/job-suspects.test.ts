// Who is a suspect, is marked, is alone or is given up: a worker that does otherwise is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mark } from '../../../src/lab/simulation/job-keys.ts'
import { JobSuspects } from '../../../src/lab/simulation/job-suspects.ts'
import { type JobRules, drawJobs } from '../../../src/lab/simulation/jobs.ts'
import { type Made, UNDER_WAY } from '../../../src/lab/simulation/made.ts'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { contextOf } from './context-of.ts'

const HELD = [{ partition: 1, epoch: 2 }]

function markOf(turn: number, crashes = 0): Mark {
  const run = { key: `k${turn}`, group: 'g', slot: null, partition: 1, turn, dueAt: 0, putAt: 0 }
  const taken = { ...run, seen: 1, payload: null, attempt: 0, crashes }
  return { taken, lane: 'bulk', askedAt: 0, answeredAt: 0, earlier: null, isCancelled: false }
}

/** A worker of one handler that took a partition over, whose owner before had one run under way. */
function takenOver(suspects = 1) {
  const clock = new VirtualClock()
  const running = new Set<Made>()
  const rules: JobRules = { ...drawJobs(1, { faultyMs: 30_000 }).jobs, concurrency: 1, drainWithinMs: 500 }
  const stood = { from: -Infinity, until: -Infinity }
  const parts = { clock, rules, running, mayBeLost: () => false, stood: () => stood }
  const watch = new JobSuspects({ ...parts, races: noRaces() })
  const raise = (epoch: number, told: number, concurrency = 1): string[] =>
    watch.raised({ owner: 'm', held: [{ partition: 1, epoch }], concurrency }, [
      { partition: 1, raised: true, epoch, suspects: told },
    ])
  raise(2, suspects)
  const mark = (each: Mark, crashes: number): string[] => {
    const { key, turn } = each.taken
    const wrong = watch.marking([{ mark: { key, slot: null, turn, crashes }, taken: [each] }])
    watch.sent(each, { owner: 'm', held: HELD })
    watch.answered(each, crashes, 'marked')
    return wrong
  }
  const start = (each: Mark): string[] => {
    const context = contextOf({ partition: 1, epoch: 2 })
    const life = { name: 'm1', isDead: false }
    const made: Made = { taken: each.taken, epoch: 2, context, life, startedAt: clock.mono(), ...UNDER_WAY }
    const wrong = watch.start(made, each)
    running.add(made)
    return wrong
  }
  return { clock, running, watch, raise, mark, start, stood }
}

test('[X43] a fence that is raised with another number than a worker may have under way is found', () => {
  const { raise } = takenOver()
  assert.deepEqual(raise(3, 0), [])
  assert.match(String(raise(4, 0, 0)), /^\[X43\]/)
})

test('[X44] a suspect that starts without a mark, and a mark of what is none or with another number, are found', () => {
  const { mark, start, running } = takenOver()
  assert.match(String(start(markOf(1))), /^\[X44\]/)
  running.clear()
  assert.match(String(mark(markOf(2), 2)), /^\[X44\] .* has read 0/)
  for (const turn of [3, 4]) {
    assert.deepEqual([mark(markOf(turn), 1), start(markOf(turn))], [[], []])
    running.clear()
  }
  assert.deepEqual(start(markOf(5)), [])
  running.clear()
  assert.match(String(mark(markOf(6), 1)), /^\[X44\] .* is no suspect/)
})

test('[X44] what a life has marked and let go needs no mark, and a new epoch of its owner keeps the suspects', async () => {
  const { clock, mark, start, running, raise } = takenOver()
  assert.deepEqual(mark(markOf(1), 1), [])
  await clock.advance(10)
  raise(3, 0)
  assert.deepEqual(start(markOf(1, 1)), [])
  running.clear()
  assert.match(String(start(markOf(2))), /^\[X44\]/)
})

test('[X44] one that is let go and taken again in the moment of its mark has not used its place', () => {
  const { mark, start, running } = takenOver()
  assert.deepEqual([mark(markOf(1), 1), start(markOf(1, 1))], [[], []])
  for (const turn of [2, 3]) {
    running.clear()
    assert.deepEqual([mark(markOf(turn), 1), start(markOf(turn))], [[], []])
  }
  running.clear()
  assert.match(String(mark(markOf(4), 1)), /^\[X44\] .* is no suspect/)
})

test('[X45] others may wait while a run is alone, and in the moment in which it is over', async () => {
  const { clock, mark, start, running, watch } = takenOver(5)
  await clock.advance(500)
  mark(markOf(1, 1), 2)
  start(markOf(1, 1))
  await clock.advance(10)
  assert.equal(watch.holdsBack([]), true)
  for (const made of running) made.overAt = clock.mono()
  running.clear()
  assert.equal(watch.holdsBack([]), true)
  await clock.advance(1)
  assert.equal(watch.holdsBack([]), false)
})

test('[X45] a run is alone after `drainWithin`, also beside marks that a member sent late since it stood still', async () => {
  const { clock, mark, start, stood } = takenOver(5)
  await clock.advance(1000)
  Object.assign(stood, { from: 500, until: 1000 })
  assert.deepEqual([mark(markOf(1), 1), start(markOf(1))], [[], []])
  assert.deepEqual([mark(markOf(2, 1), 2), start(markOf(2, 1))], [[], []])
  const later = takenOver(5)
  await later.clock.advance(1000)
  Object.assign(later.stood, { from: 501, until: 1000 })
  assert.deepEqual([later.mark(markOf(1), 1), later.start(markOf(1))], [[], []])
  assert.match(String(later.mark(markOf(2, 1), 2)), /^\[X45\]/)
})

test('[X45] [X46] a run that is not alone at 2 crashes, one beside it, and one that starts at 3 are found', async () => {
  const { clock, mark, start, running } = takenOver(5)
  mark(markOf(1), 1)
  start(markOf(1))
  assert.match(String(mark(markOf(2, 1), 2)), /^\[X45\]/)
  await clock.advance(500)
  assert.deepEqual([mark(markOf(2, 1), 2), start(markOf(2, 1))], [[], []])
  mark(markOf(3), 1)
  assert.match(String(start(markOf(3))), /^\[X45\]/)
  for (const made of running) made.overAt = clock.mono()
  running.clear()
  assert.match(String(start(markOf(4, 3))), /\[X46\]/)
})

test('[X46] [X15] what is given up without having been in three crashes, or for another reason, is found', () => {
  const { watch } = takenOver()
  const settled = (turn: number, reason: string, mark: Mark): string | null => {
    const outcome = { kind: 'dead', reason, error: null } as const
    return watch.buries({ key: `k${turn}`, slot: null, turn, seen: 1, outcome }, [mark])
  }
  assert.equal(settled(1, 'crashed', markOf(1, 2)), null)
  assert.equal(settled(1, 'crashed', markOf(1, 2)), null)
  assert.match(String(settled(2, 'crashed', markOf(2, 1))), /^\[X46\]/)
  assert.match(String(settled(3, 'given up', markOf(3, 2))), /^\[X15\]/)
})
