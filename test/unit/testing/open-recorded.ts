// A store in virtual time whose history is recorded and checked, sound or broken on purpose.
import { noFaults } from '../../../src/fault.ts'
import type { Put } from '../../../src/pool/merge.ts'
import type { Entries } from '../../../src/pool/store.ts'
import type { Store, StoreContext } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { checkHistory } from '../../../src/testing/check-history.ts'
import { History } from '../../../src/testing/history.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** What a test changes of the entries or the mover of a sound store. */
type Sabotage = (store: Store) => { entries?: Partial<Entries>; move?: Store['mover']['move'] }

/** A memory store, broken as the test likes, whose calls are recorded. */
export function openRecorded(
  sabotage: Sabotage = () => ({}),
  open = openMemoryStore,
): {
  store: Store
  clock: VirtualClock
  check(pool?: string): Promise<string[]>
} {
  const clock = new VirtualClock()
  const sound = open({ clock, telemetry: createTelemetry('member'), faults: noFaults })
  const { entries = {}, move } = sabotage(sound)
  const real = sound.pool.entries
  const bound: Entries = {
    open: (settings) => real.open(settings),
    put: (pool, requests) => real.put(pool, requests),
    cancel: (pool, name) => real.cancel(pool, name),
    reschedule: (pool, change) => real.reschedule(pool, change),
    take: (pool, request) => real.take(pool, request),
    settle: (pool, settlements, claim) => real.settle(pool, settlements, claim),
    mark: (pool, marks, claim) => real.mark(pool, marks, claim),
    ...entries,
  }
  const history = new History(clock)
  const mover = move === undefined ? sound.mover : { move }
  const store = history.wrap({ ...sound, mover, pool: { ...sound.pool, entries: bound } })
  const check = async (pool = 'work'): Promise<string[]> => {
    const { entries: left } = await sound.pool.browse.list(pool, { limit: 1000 })
    return checkHistory(history.records, { entries: new Map([[pool, left]]) })
  }
  return { store, clock, check }
}

/** Opens a memory store whose mover goes by a clock that is so far ahead. */
export function openAhead(ms: number): typeof openMemoryStore {
  return (context: StoreContext): Store => {
    const { clock } = context
    let aheadMs = 0
    const skewed = new Proxy(clock, {
      get: (_, name) => {
        if (name === 'now') return () => clock.now() + aheadMs
        const own: unknown = Reflect.get(clock, name)
        return typeof own === 'function' ? (own.bind(clock) as unknown) : own
      },
    })
    const store = openMemoryStore({ ...context, clock: skewed })
    const move: Store['mover']['move'] = (request) => {
      aheadMs = ms
      const moved = store.mover.move(request)
      aheadMs = 0
      return moved
    }
    return { ...store, mover: { move } }
  }
}

/** The puts of every request, as another hand would have written them. */
export function rewritten(store: Store, rewrite: (put: Put) => Put): Entries['put'] {
  return (pool, requests) =>
    store.pool.entries.put(
      pool,
      requests.map((request) => ({ ...request, puts: request.puts.map(rewrite) })),
    )
}
