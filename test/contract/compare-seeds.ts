// Compares a store with memory on many seeds.
import { noFaults } from '../../src/fault.ts'
import type { Store } from '../../src/store.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { type Coverage, compareStores, wantedCells } from '../../src/testing/differential.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'

const OPERATIONS = 150
const only = process.env['SEED']

export async function openMemory(clock: VirtualClock): Promise<Store> {
  return openMemoryStore({ clock, telemetry: createTelemetry(clock.id()), faults: noFaults })
}

/** Compares on many seeds, and answers the cells that none of them met. */
export async function compareSeeds(
  seeds: number,
  subject: { open(clock: VirtualClock): Promise<Store>; durable: boolean },
): Promise<string[]> {
  const coverage: Coverage = new Map()
  const chosen = only === undefined ? Array.from({ length: seeds }, (_, nth) => nth + 1) : [Number(only)]
  for (const seed of chosen) {
    const options = { seed, operations: OPERATIONS, reference: openMemory, durable: subject.durable }
    await compareStores({ ...options, subject: (clock) => subject.open(clock) }, coverage)
  }
  return only === undefined ? wantedCells().filter((cell) => !coverage.has(cell)) : []
}
