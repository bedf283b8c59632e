// Bugs of ticks and their topics: each moves once, at its time.
import type { Mutant } from './mutant.ts'

export const tickMutants: Mutant[] = [
  {
    name: 'clock-of-a-member-believed',
    file: 'src/store-time.ts',
    find: 'const least = now - this.#clock.now() - GRAIN_MS',
    replace: 'const least = now - Math.max(this.#clock.now(), now) - GRAIN_MS',
    breaks: 'a member whose clock is wrong sleeps by it',
    rule: 'D4',
    caughtBy: { seeds: 50, breaking: ['[T1]', '[T2]', '[X10]'] },
  },
  {
    name: 'failed-move-ends-the-loop',
    file: 'src/pool/ticks.ts',
    find: 'if (!this.#isOpen && isRefused(error)) {',
    replace: 'if (this.#isOpen || isRefused(error)) {',
    breaks: 'a move that fails ends the loop of ticks',
    rule: 'T1',
    caughtBy: { seeds: 50, breaking: ['[T1]'] },
  },
  {
    name: 'move-by-a-clock-ahead',
    file: 'src/stores/memory/pools.ts',
    find: `const now = this.#clock.now()
    const due = this.of(name).entries.dueBy(now, partitions)`,
    replace: `const now = this.#clock.now() + 400
    const due = this.of(name).entries.dueBy(now, partitions)`,
    breaks: 'a move goes by a clock that is 400 ms ahead, and so do the times of its events',
    rule: 'T2',
    caughtBy: { seeds: 50, breaking: ['[T2]'] },
  },
  {
    name: 'moves-by-the-gather-time',
    file: 'src/stores/memory/pools.ts',
    find: 'const due = this.of(name).entries.dueBy(now, partitions)',
    replace: 'const due = this.of(name).entries.dueBy(now + 5, partitions)',
    breaks: 'a move takes along what falls due within its gather time',
    rule: 'T2',
    caughtBy: { seeds: 50, breaking: ['[P2]'] },
  },
  {
    name: 'offsets-from-one-look',
    edits: [
      {
        file: 'src/stores/memory/log.ts',
        find: 'for (const event of events) refuseOtherPartition(topic.settings, event.partition)',
        replace: `for (const event of events) refuseOtherPartition(topic.settings, event.partition)
    const heads = topic.partitions.map(({ oldest, events: before }) => oldest + before.length)`,
      },
      {
        file: 'src/stores/memory/log.ts',
        find: 'const offset = partition.oldest + partition.events.length',
        replace: 'const offset = heads[event.partition] as number',
      },
    ],
    breaks: 'events of one append share an offset',
    rule: 'L2',
    caughtBy: { seeds: 50, breaking: ['[L2]'] },
  },
  {
    name: 'remove-before-publish',
    edits: [
      {
        file: 'src/pool/ticks.ts',
        find: "import type { Pool } from './pool.ts'",
        replace: `import type { Pool } from './pool.ts'
import { tickEvent } from './tick-event.ts'`,
      },
      {
        file: 'src/pool/ticks.ts',
        find: 'const moved = await store.mover.move(request)',
        replace: `const { limit } = request
      const wanted = { lane: 'normal' as const, from: 0, limit }
      const partitions = claim.held.map(({ partition }) => partition)
      const taken = await store.pool.entries.take(this.pool.name, { ...wanted, partitions })
      const done = taken.runs.map((run) => ({ ...run, outcome: { kind: 'done' } as const }))
      const settled = await store.pool.entries.settle(this.pool.name, done, claim)
      const runs = taken.runs.filter((_, nth) => settled[nth]?.result === 'settled')
      const to = { now: taken.now, partitions: this.pool.settings.partitions }
      await store.log.append(
        this.topic.name,
        runs.map((run) => tickEvent(this.pool.name, run, to)),
      )
      const latenessMs = runs.map(({ dueAt }) => taken.now - dueAt)
      const refused = partitions.slice(partitions.length)
      const moved: Moved = { count: runs.length, now: taken.now, latenessMs, nextDueAt: null, refused }`,
      },
    ],
    breaks: 'a member settles what is due, and appends it in another step: what dies in between is lost',
    rule: 'T1',
    caughtBy: { seeds: 50, breaking: ['[P1]'] },
  },
  {
    name: 'ticks-move-while-paused',
    file: 'src/pool/ticks.ts',
    find: 'if (pausedUntil !== null) return pausedUntil',
    replace: 'if (pausedUntil === 0) return pausedUntil',
    breaks: 'ticks move whatever the pause of their pool',
    rule: 'T6',
    caughtBy: {
      file: 'test/unit/pool/ticks-pause.test.ts',
      test: '[T6] no tick moves while its pool is paused, puts are taken, and a resume lets them move at once',
    },
  },
]
