// What a member knows of its share, when answers overtake each other, and when members disagree on who is there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Control, NO_CONTROL } from '../../../src/pool/control.ts'
import { ShareKeeper } from '../../../src/pool/share-keeper.ts'
import type { Controlled, ControlStore } from '../../../src/pool/store.ts'
import type { Ownership } from '../../../src/roster/ownership.ts'
import { StoreTime } from '../../../src/store-time.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

interface Opened {
  keeper: ShareKeeper
  /** What steers the pool, as it was told each time. */
  told: Control[]
}

function openKeeper(
  clock: VirtualClock,
  control: ControlStore,
  { member = 'a', members = ['a'] } = {},
): Opened {
  const told: Control[] = []
  const view = { version: members.length, members: members.map((id) => ({ id })) }
  const keeper = new ShareKeeper({
    pool: 'work',
    control,
    ownership: { claim: () => ({ owner: member, held: [] }), view } as unknown as Ownership,
    clock,
    time: new StoreTime(clock),
    telemetry: createTelemetry(member),
    concurrency: 5,
    isHungry: () => true,
    used: () => ({ concurrency: 0, rate: 0 }),
    changed: (changed) => told.push(changed),
    wake: () => undefined,
  })
  return { keeper, told }
}

test('[L12] a read that was overtaken by a later one tells nothing', async () => {
  const clock = new VirtualClock()
  const asked: ((found: Controlled) => void)[] = []
  const read = (): Promise<Controlled> => new Promise((resolve) => asked.push(resolve))
  const { keeper, told } = openKeeper(clock, { read, write: async () => null })
  const paused = { ...NO_CONTROL, paused: { by: null, reason: null, since: 0, until: null } }
  const before = { now: 0, version: 1, control: NO_CONTROL }
  void keeper.learn()
  asked[0]?.(before)
  await clock.advance(1)
  keeper.notice(undefined)
  void keeper.learn()
  keeper.notice(2)
  asked[2]?.({ now: 0, version: 2, control: paused })
  await clock.advance(1)
  asked[1]?.(before)
  await clock.advance(1)
  assert.deepEqual(told, [NO_CONTROL, paused])
})

test('[L20] a member that is gone and does not know it makes no flood of writes', async () => {
  const clock = new VirtualClock()
  const pool = { concurrency: 4, rate: null }
  let stored = { now: 0, version: 1, control: { ...NO_CONTROL, limits: { ...NO_CONTROL.limits, pool } } }
  const keepers: ShareKeeper[] = []
  const control: ControlStore = {
    read: async () => stored,
    write: async (_, version, written) => {
      if (version !== stored.version) return null
      stored = { now: 0, version: version + 1, control: written as typeof stored.control }
      for (const keeper of keepers) clock.turn(() => keeper.hear())
      return stored.version
    },
  }
  const gone = openKeeper(clock, control, { member: 'b', members: ['b'] })
  const other = openKeeper(clock, control, { member: 'a', members: ['a', 'c'] })
  keepers.push(gone.keeper, other.keeper)
  for (const keeper of keepers) void keeper.learn()
  await clock.advance(1000)
  assert.ok(stored.version < 120, `${stored.version} writes`)
})
