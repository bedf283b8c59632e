// A process: fills stores with entries that wait or were settled, and measures take and move on each in turn,
// so that what disturbs the machine disturbs them alike. Nothing pulses, so nothing is folded: an entry stays
// where it was put.
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Put } from '../../src/pool/merge.ts'
import type { TakenRun } from '../../src/pool/entry.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { claimAll, claimOf } from '../../src/testing/claim.ts'
import { answerParent, tellParent } from '../child.ts'
import { median } from '../measure.ts'

export interface ProbeInput {
  folder: string
  /** One store each. */
  stores: { settled: number; pending: number }[]
  /** Measurements on each store. */
  cycles: number
}

/** Medians in milliseconds. */
export interface Cost {
  take: number
  move: number
}

const POOL = 'ticks'
const TOPIC = 'ticks'
const PARTITIONS = 32
const CLAIM = claimOf(PARTITIONS)
const BATCH = 1000
const DUE = 100
const DAY_MS = 86_400_000
/** Cycles on one store before the next has its turn. */
const TURN_CYCLES = 20
/** Unmeasured turns first, so that the first store is not the one that pays for compiling. */
const WARM_UP_TURNS = 3
/** Of 100 entries, how many go to the journal; 45 of a hundred make a million fit its limit of 500,000. */
const YOUNG_PENDING = 45
const YOUNG_DUE = 50

class Probe {
  readonly #store: Store
  #made = 0
  #takes: number[] = []
  #moves: number[] = []

  constructor(store: Store) {
    this.#store = store
  }

  static async open(path: string): Promise<Probe> {
    const context = { clock: systemClock, telemetry: createTelemetry(systemClock.id()), faults: noFaults }
    const store = await openStore(`sqlite:${path}`, context)
    await store.pool.entries.open({ name: POOL, mode: 'each', partitions: PARTITIONS, rememberMs: 0 })
    await store.log.open({ name: TOPIC, partitions: PARTITIONS, retentionMs: DAY_MS })
    await claimAll(store, POOL, PARTITIONS)
    return new Probe(store)
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
  async cycle(): Promise<void> {
    await this.#putDue(DUE)
    const began = systemClock.mono()
    await this.#take(DUE)
    const taken = systemClock.mono()
    await this.#move(DUE)
    this.#takes.push(taken - began)
    this.#moves.push(systemClock.mono() - taken)
  }

  forget(): void {
    this.#takes = []
    this.#moves = []
  }

  get cost(): Cost {
    return { take: median(this.#takes), move: median(this.#moves) }
  }

  close(): Promise<void> {
    return this.#store.close()
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
    const moved = await this.#store.mover.move({ pool: POOL, topic: TOPIC, limit: count, claim: CLAIM })
    if (moved.count !== count) throw new Error(`${moved.count} of ${count} due entries were moved`)
  }

  async #settle(runs: TakenRun[]): Promise<void> {
    const outcome = { kind: 'done' } as const
    await this.#store.pool.entries.settle(
      POOL,
      runs.map(({ key, slot, turn, seen }) => ({ key, slot, turn, seen, outcome })),
      CLAIM,
    )
  }
}

async function probe({ folder, stores, cycles }: ProbeInput): Promise<Cost[]> {
  const probes: Probe[] = []
  for (const [index, { settled, pending }] of stores.entries()) {
    tellParent(`store ${index + 1} of ${stores.length}: ${count(settled)} settled, ${count(pending)} pending`)
    const probe = await Probe.open(join(folder, `${index}.db`))
    await probe.pass(settled)
    await probe.fill(pending)
    probes.push(probe)
  }
  tellParent(`measures ${cycles} times on each store`)
  await takeTurns(probes, WARM_UP_TURNS)
  for (const probe of probes) probe.forget()
  await takeTurns(probes, Math.ceil(cycles / TURN_CYCLES))
  for (const probe of probes) await probe.close()
  return probes.map(({ cost }) => cost)
}

async function takeTurns(probes: Probe[], turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    for (const probe of probes) for (let cycle = 0; cycle < TURN_CYCLES; cycle++) await probe.cycle()
  }
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

if (import.meta.main) await answerParent(probe)
