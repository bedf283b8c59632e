// Ticks over memory and a virtual clock, whose store can be changed.
import { noFaults } from '../../../src/fault.ts'
import { Gate } from '../../../src/gate.ts'
import { Topic } from '../../../src/log/topic.ts'
import { Meter } from '../../../src/meter/meter.ts'
import { Pool } from '../../../src/pool/pool.ts'
import { Ticks } from '../../../src/pool/ticks.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry, type Telemetry } from '../../../src/telemetry.ts'
import { ownAll } from '../../../src/testing/own-all.ts'
import { START, VirtualClock } from '../../../src/testing/virtual-clock.ts'
import type { Mover, Store } from '../../../src/store.ts'

export interface Loop {
  clock: VirtualClock
  store: Store
  /** The store without changes. */
  memory: Store
  ticks: Ticks
  telemetry: Telemetry
  meter: Meter
  /** When the loop asked the store to move. */
  movedAt: number[]
  /** The times of the events. */
  times(): Promise<number[]>
}

export interface Changes {
  mover?(mover: Mover): Mover
  watch?: Store['watch']
  store?(memory: Store): Partial<Store>
  /** What is done before the loop starts. */
  before?(pool: Pool): Promise<unknown>
}

export async function startLoop(changes: Changes = {}): Promise<Loop> {
  const clock = new VirtualClock()
  const telemetry = createTelemetry(`ticks-${clock.id()}`)
  const memory = openMemoryStore({ clock, telemetry, faults: noFaults })
  const movedAt: number[] = []
  const mover = changes.mover?.(memory.mover) ?? memory.mover
  const counted: Mover = {
    move: (request) => {
      movedAt.push(clock.now() - START)
      return mover.move(request)
    },
  }
  const store = {
    ...memory,
    mover: counted,
    watch: changes.watch ?? memory.watch,
    ...changes.store?.(memory),
  }
  const gate = new Gate()
  const settings = { name: 'ticks', partitions: 1, mode: 'each', rememberMs: 0 } as const
  const pool = new Pool({ settings, store: store.pool, arrivals: null, clock, telemetry, gate })
  const topicSettings = { name: 'ticks', partitions: 1, retentionMs: 1e9 }
  const topic = new Topic({
    settings: topicSettings,
    store: store.log,
    arrivals: null,
    clock,
    telemetry,
    gate,
  })
  const ownership = await ownAll(store, clock, { pool: 'ticks', partitions: 1 })
  const meter = new Meter(telemetry, clock)
  const ticks = new Ticks({ pool, topic, store, ownership, clock, telemetry, meter, faults: noFaults })
  await changes.before?.(pool)
  await ticks.service.start()
  const times = async (): Promise<number[]> =>
    (await topic.read(0, 0, 1000)).events.map(({ time }) => time.getTime() - START)
  return { clock, store, memory, ticks, telemetry, meter, movedAt, times }
}
