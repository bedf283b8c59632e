// What a worker must know of what steers its pool, and when its runs may wait for that, as it is seen from outside.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobKnowledge, isOwnShare } from '../../../src/lab/simulation/job-knowledge.ts'
import { JOBS } from '../../../src/lab/simulation/jobs.ts'
import { type Control, NO_CONTROL, type Share } from '../../../src/pool/control.ts'
import type { Pulse } from '../../../src/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

function knowing(): { clock: VirtualClock; knowledge: JobKnowledge; tell: (version?: number) => void } {
  const clock = new VirtualClock()
  const knowledge = new JobKnowledge({ clock, awakeSince: () => -Infinity, aheadMs: () => 0, trustMs: 2500 })
  const tell = (version?: number): void => {
    const controls = new Map(version === undefined ? [] : [[JOBS, version]])
    knowledge.pulsed({ controls } as unknown as Pulse, clock.mono(), 0)
  }
  return { clock, knowledge, tell }
}

void test('[L12] runs may wait while what steers the pool is being read, and in the moment of the answer', async () => {
  const { clock, knowledge } = knowing()
  assert.equal(knowledge.isBeingRead, false)
  knowledge.begin()
  await clock.advance(10)
  assert.equal(knowledge.isBeingRead, true)
  knowledge.end()
  assert.equal(knowledge.isBeingRead, true)
  await clock.advance(1)
  assert.equal(knowledge.isBeingRead, false)
})

void test('[L12] a worker knows what a pulse told when it had the time to read it, and nothing after one that told none', async () => {
  const { clock, knowledge, tell } = knowing()
  assert.equal(knowledge.known, null)
  knowledge.read({ now: 0, version: 3, control: NO_CONTROL })
  assert.equal(knowledge.known, 3)
  tell(5)
  await clock.advance(20)
  assert.equal(knowledge.known, 3)
  await clock.advance(1)
  assert.equal(knowledge.known, 5)
  tell(6)
  knowledge.begin()
  await clock.advance(1000)
  assert.equal(knowledge.known, 5)
  knowledge.end()
  await clock.advance(21)
  assert.equal(knowledge.known, 6)
  tell()
  assert.equal(knowledge.known, null)
})

void test('[L12] after a doubt a worker must read anew, whatever the pulse tells that ends it', async () => {
  const { clock, knowledge, tell } = knowing()
  tell(3)
  knowledge.read({ now: 0, version: 3, control: NO_CONTROL })
  await clock.advance(2500)
  tell(3)
  assert.equal(knowledge.known, 3)
  await clock.advance(2501)
  tell(3)
  assert.equal(knowledge.known, null)
})

void test('[L18] a write of a member that takes a share is told from those that give one back, or limit', () => {
  const none = { has: 0, wants: 0, cut: null }
  const share: Share = { member: 'm1', seenIn: 1, endsAt: null, concurrency: { ...none, has: 2 }, rate: none }
  const having = (...shares: Share[]): Control => ({ ...NO_CONTROL, shares })
  const cut = { ...share, concurrency: { ...share.concurrency, cut: 1 } }
  assert.equal(isOwnShare(having(), having(share)), true)
  assert.equal(isOwnShare(having(share), having()), false)
  assert.equal(isOwnShare(having(share), having(cut)), false)
  assert.equal(isOwnShare(having(share), having({ ...share, endsAt: 5 })), false)
})
