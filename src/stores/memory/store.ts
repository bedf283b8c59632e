// The memory store: the shortest correct reading of the rules, and what other stores are compared with.
// Nothing survives the process. Every method is one synchronous step, hence atomic.
import { assert } from '../../errors.ts'
import { Listeners } from '../../listeners.ts'
import type { Hint, Store, StoreContext } from '../../store.ts'
import { createCommit } from './commit.ts'
import { MemoryControl } from './control.ts'
import { createDead } from './dead.ts'
import { MemoryFences } from './fences.ts'
import { MemoryLocks } from './locks.ts'
import { MemoryLog } from './log.ts'
import { createMover } from './mover.ts'
import { MemoryPools } from './pools.ts'
import { type KeptProgress, createProgress } from './progress.ts'
import { MemoryRoster } from './roster.ts'
import { Snapshots, keepMap } from './snapshots.ts'

/** `snapshots` can bring it back to an earlier state, for the simulation. */
export function openMemoryStore(context: StoreContext, snapshots = new Snapshots()): Store {
  const listeners = new Listeners<[Hint]>((error) => context.telemetry.emit('listener.failed', { error }))
  const hint = (what: Hint): void => listeners.tell(what)
  const parts = { clock: context.clock, commit: createCommit(context.faults), hint }
  const fences = new MemoryFences(parts)
  const roster = new MemoryRoster(parts)
  const pools = new MemoryPools({ ...parts, fences })
  const control = new MemoryControl(parts)
  const log = new MemoryLog(parts)
  const locks = new MemoryLocks(parts)
  const progress = new Map<string, KeptProgress>()
  const kept = [fences, roster, pools, control, log, locks]
  snapshots.attach([...kept.map((part) => part.snapshot), () => keepMap(progress)])
  let closed = false
  return {
    address: 'memory:',
    pool: {
      entries: pools,
      browse: pools,
      dead: createDead({ ...parts, pools }),
      progress: createProgress({ ...parts, pools, fences, kept: progress }),
      control,
      putsAtOnce: 1,
    },
    log,
    arrivals: null,
    mover: createMover({ ...parts, pools, log, fences }),
    fences,
    roster,
    locks,
    pulse: async ({ beat, pools: asked }) => {
      assert(!closed, 'the memory store is closed')
      return {
        now: context.clock.now(),
        nextDueAt: new Map(asked.map(({ pool, partitions }) => [pool, pools.nextDueAt(pool, partitions)])),
        controls: new Map(asked.map(({ pool }) => [pool, control.version(pool)])),
        beaten: beat === null ? null : roster.beat(beat),
        arrived: [],
        refusal: null,
        generation: snapshots.generation,
      }
    },
    inspect: async () => {
      return [{ check: 'durability', ok: true, detail: 'nothing survives this process', remedy: null }]
    },
    watch: (listener) => listeners.add(listener),
    close: () => {
      closed = true
      listeners.clear()
      return Promise.resolve()
    },
  }
}
