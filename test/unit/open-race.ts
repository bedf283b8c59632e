// A Headrace over memory and a virtual clock, whose store can be made to fail.
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { Headrace } from '../../src/headrace.ts'
import { resolveOptions } from '../../src/options.ts'
import type { Store } from '../../src/store.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export interface OpenRace {
  clock: VirtualClock
  race: Headrace
  /** Whether the store was closed. */
  closed(): boolean
}

export function openRace(
  change: (memory: Store, clock: VirtualClock) => Partial<Store> = () => ({}),
): OpenRace {
  const clock = new VirtualClock()
  const telemetry = createTelemetry(systemClock.id())
  const memory = openMemoryStore({ clock, telemetry, faults: noFaults })
  let closed = false
  const close = (): Promise<void> => {
    closed = true
    return memory.close()
  }
  const store = { ...memory, close, ...change(memory, clock) }
  const options = resolveOptions({ store: 'memory:', partitions: 1 })
  return {
    clock,
    race: new Headrace({ options, clock, telemetry, faults: noFaults, store }),
    closed: () => closed,
  }
}

/** A log whose opening fails so many times before it works. */
export function failingLog(memory: Store, failure: { error: Error; times: number }): Store['log'] {
  let left = failure.times
  const open: Store['log']['open'] = (settings) => {
    left -= 1
    return left >= 0 ? Promise.reject(failure.error) : memory.log.open(settings)
  }
  return changed(memory.log, { open })
}

/** A port with some of its methods replaced. */
export function changed<Port extends object>(port: Port, changes: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
