// SQLite stores in folders of their own, opened by address as a user would.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { noFaults } from '../../src/fault.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { alternate } from '../../src/testing/alternate.ts'
import type { OpenSubject } from '../../src/testing/contract.ts'
import type { Durable } from '../../src/testing/durable-contract.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'

export const sqliteFiles: Durable = {
  create: async () => join(await mkdtemp(join(tmpdir(), 'headrace-')), 'headrace.db'),
  open: (path: string, clock: VirtualClock): Promise<Store> =>
    openStore(`sqlite:${path}`, { clock, telemetry: createTelemetry(clock.id()), faults: noFaults }),
  remove: (path) => rm(dirname(path), { recursive: true }),
}

/**
 * In memory where the system offers it: for tests that compare thousands of answers, and would spend two
 * thirds of their time waiting for the disk.
 */
export const quickSqliteFiles: Durable = {
  ...sqliteFiles,
  create: async () => {
    const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
    return join(await mkdtemp(join(folder, 'headrace-')), 'headrace.db')
  },
}

export const openSqlite: OpenSubject = async (clock) => {
  const path = await sqliteFiles.create()
  return closing(path, await sqliteFiles.open(path, clock))
}

/** Two openings of one file, called in turns. */
export const openSqliteTwice: OpenSubject = async (clock) => {
  const path = await sqliteFiles.create()
  const [first, second] = [await sqliteFiles.open(path, clock), await sqliteFiles.open(path, clock)]
  return closing(path, alternate(first, second))
}

function closing(path: string, store: Store): { store: Store; close(): Promise<void> } {
  const close = async (): Promise<void> => {
    await store.close()
    await sqliteFiles.remove(path)
  }
  return { store, close }
}
