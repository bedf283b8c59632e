// What users were answered, held against what the store did: where the two do not fit, it is said.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { Answers } from '../../../src/lab/simulation/answers.ts'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import type { Put, PutAnswer } from '../../../src/pool/merge.ts'
import type { Entries } from '../../../src/pool/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const POOL = 'ticks'
const CREATED: PutAnswer = { result: 'created', dueAt: 0, tally: 1 }

async function watched(): Promise<{ answers: Answers; entries: Entries; at: number }> {
  const clock = new VirtualClock(1)
  const answers = new Answers({ storeClock: clock, races: noRaces() })
  const context = { clock, telemetry: createTelemetry('store'), faults: noFaults }
  const { entries } = answers.wrap(openMemoryStore(context)).pool
  await entries.open({ name: POOL, mode: 'one', partitions: 1, rememberMs: null })
  return { answers, entries, at: clock.now() + 5000 }
}

function putOf(payload: number, at: number): Put {
  return { key: 'k', at, payload: String(payload), lane: 'normal', group: 'k', onConflict: 'earliest' }
}

test('[R1] a put that came as it was asked for is fine; one that did not come, or came otherwise, is found', async () => {
  const { answers, entries, at } = await watched()
  const wish = { key: 'k', at, onConflict: 'earliest' } as const
  const [fine, lost, other] = [0, 1, 2].map(() => answers.ask(wish, 'itself')) as [number, number, number]
  await entries.put(POOL, [{ puts: [putOf(fine, at)], repeat: null }])
  answers.put(fine, { ...CREATED, dueAt: at })
  assert.deepEqual(answers.judge(), [])
  answers.put(lost, { ...CREATED, dueAt: at })
  await entries.put(POOL, [{ puts: [putOf(other, at - 1000)], repeat: null }])
  assert.match(answers.judge().join('\n'), /^\[R1\].* did no such thing\n\[P1\].* came to the store as .*$/)
})

test('[R1] a put that is done twice is found, and so is one that nobody asked for', async () => {
  const { answers, entries, at } = await watched()
  const payload = answers.ask({ key: 'k', at, onConflict: 'earliest' }, 'itself')
  const puts = [putOf(payload, at), putOf(payload, at), putOf(7, at)]
  await entries.put(POOL, [{ puts, repeat: null }])
  assert.match(answers.judge().join('\n'), /^\[R1\].* done 2 times\n\[P1\].* payload 7 .* unasked$/)
})

test('[U2] a committed put that never comes is found, and so is one that was not committed and comes', async () => {
  const { answers, entries, at } = await watched()
  const wish = { key: 'k', at, onConflict: 'earliest' } as const
  const [committed, undone] = [answers.ask(wish, 'transaction'), answers.ask(wish, 'transaction')]
  answers.committed(committed)
  await entries.put(POOL, [{ puts: [putOf(undone, at)], repeat: null }])
  assert.match(answers.judge().join('\n'), /^\[U2\].* never came .*\n\[U1\].* was not committed, and came/)
})

test('[C1] a cancel or a reschedule that was answered and not made is found', async () => {
  const { answers, entries, at } = await watched()
  await entries.cancel(POOL, { key: 'k' })
  await entries.reschedule(POOL, { key: 'k', slot: null, at })
  answers.cancelled('k', 'absent')
  answers.rescheduled({ key: 'k', slot: null, at }, { kind: 'absent' })
  assert.deepEqual(answers.judge(), [])
  answers.cancelled('k', 'cancelled')
  answers.rescheduled({ key: 'k', slot: null, at }, { kind: 'due' })
  assert.match(answers.judge().join('\n'), /^\[C1\] .*made 0 times\n\[C2\] .*made 0 times$/)
})
