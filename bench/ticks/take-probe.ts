// A process: opens a store, lets entries be settled, and measures take and move while more and more wait.
// Nothing pulses, so nothing is folded: an entry stays where it was put.
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Put } from '../../src/pool/merge.ts'
import type { TakenRun } from '../../src/pool/store.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { answerParent, tellParent } from '../child.ts'
import { median } from '../measure.ts'

export interface ProbeInput {
  store: string
  /** How many entries are put and settled before anything is measured. */
  settled: number
  /** At which numbers of waiting entries it measures, ascending. */
  pending: number[]
  /** Measurements at each of them. */
  cycles: number
}

/** Medians in milliseconds. */
export interface ProbeStep {
  pending: number
  take: number
  move: number
}

const POOL = 'ticks'
const TOPIC = 'ticks'
const BATCH = 1000
const DUE = 100
const DAY_MS = 86_400_000
/** Unmeasured cycles first, so that the smallest step is not the one that pays for compiling. */
const WARM_UP_CYCLES = 300
/** Of 100 entries, how many go to the journal; 45 of a hundred make a million fit its limit of 500,000. */
const YOUNG_PENDING = 45
const YOUNG_DUE = 50

class Probe {
  readonly #store: Store
  #made = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Puts entries that wait for a day or two. */
  async fill(count: number): Promise<void> {
    const at = systemClock.now() + DAY_MS
    for (let left = count; left > 0; left -= BATCH) {
      await this.#put(Math.min(BATCH, left), YOUNG_PENDING, (number) => at + ((number * 7919) % DAY_MS))
    }
  }

  /** Puts entries that are due, and settles them: moved to the topic and by turn, in turns. */
  async pass(count: number): Promise<void> {
    for (let left = count, batch = 0; left > 0; left -= BATCH, batch++) {
      const size = Math.min(BATCH, left)
      await this.#putDue(size)
      if (batch % 2 === 0) await this.#move(size)
      else await this.#settle(await this.#take(size))
    }
  }

  /** One measurement: 100 entries become due, are taken, and are moved. */
  async cycle(): Promise<{ take: number; move: number }> {
    await this.#putDue(DUE)
    const began = systemClock.mono()
    await this.#take(DUE)
    const taken = systemClock.mono()
    await this.#move(DUE)
    return { take: taken - began, move: systemClock.mono() - taken }
  }

  async #putDue(count: number): Promise<void> {
    const at = systemClock.now()
    await this.#put(count, YOUNG_DUE, () => at)
  }

  /** An entry with a group other than its key has no place in the journal; that is how the table gets its share. */
  async #put(count: number, youngOf100: number, at: (number: number) => number): Promise<void> {
    const puts = Array.from({ length: count }, (_, index): Put => {
      const number = this.#made++
      // Multiplying by an odd number scatters 32 bits without a repeat.
      const key = `item-${(Math.imul(number, 2_654_435_761) >>> 0).toString().padStart(10, '0')}`
      const group = index % 100 < youngOf100 ? key : 'table'
      return { key, at: at(number), payload: undefined, lane: 'normal', group, onConflict: 'earliest' }
    })
    await this.#store.pool.entries.put(POOL, [{ puts, repeat: null }])
  }

  async #take(count: number): Promise<TakenRun[]> {
    const request = { partitions: null, lane: 'normal', from: -Infinity, limit: count } as const
    const { runs } = await this.#store.pool.entries.take(POOL, request)
    if (runs.length !== count) throw new Error(`${runs.length} of ${count} due entries were taken`)
    return runs
  }

  async #move(count: number): Promise<void> {
    const moved = await this.#store.mover.move({ pool: POOL, topic: TOPIC, limit: count })
    if (moved.count !== count) throw new Error(`${moved.count} of ${count} due entries were moved`)
  }

  async #settle(runs: TakenRun[]): Promise<void> {
    const outcome = { kind: 'done' } as const
    await this.#store.pool.entries.settle(
      POOL,
      runs.map(({ key, slot, turn, seen }) => ({ key, slot, turn, seen, outcome })),
    )
  }
}

async function probe(input: ProbeInput): Promise<ProbeStep[]> {
  const context = { clock: systemClock, telemetry: createTelemetry(systemClock.id()), faults: noFaults }
  const store = await openStore(input.store, context)
  await store.pool.entries.open({ name: POOL, mode: 'each', partitions: 32, rememberMs: 0 })
  await store.log.open({ name: TOPIC, partitions: 32, retentionMs: DAY_MS })
  const probed = new Probe(store)
  if (input.settled > 0) tellParent(`puts and settles ${input.settled.toLocaleString('en-US')}`)
  await probed.pass(input.settled)
  for (let cycle = 0; cycle < WARM_UP_CYCLES; cycle++) await probed.cycle()
  const steps: ProbeStep[] = []
  let waiting = 0
  for (const pending of input.pending) {
    tellParent(`measures with ${pending.toLocaleString('en-US')} waiting`)
    await probed.fill(pending - waiting)
    waiting = pending
    steps.push({ pending, ...(await measure(probed, input.cycles)) })
  }
  await store.close()
  return steps
}

async function measure(probed: Probe, cycles: number): Promise<{ take: number; move: number }> {
  const take: number[] = []
  const move: number[] = []
  for (let cycle = 0; cycle < cycles; cycle++) {
    const took = await probed.cycle()
    take.push(took.take)
    move.push(took.move)
  }
  return { take: median(take), move: median(move) }
}

if (import.meta.main) await answerParent(probe)
