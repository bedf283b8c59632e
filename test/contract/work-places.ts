// The stores that work is tested on, each with members on one store.
import { systemClock } from '../../src/clock.ts'
import type { Duration } from '../../src/duration.ts'
import { noFaults } from '../../src/fault.ts'
import { type Headrace, headrace } from '../../src/headrace.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import type { PostgresServer } from '../servers/postgres.ts'
import { sqliteFiles } from './open-sqlite.ts'

export interface Place {
  open(name: string): Promise<Headrace>
  close(): Promise<void>
}

export interface WorkPlace {
  create(): Promise<Place>
  skip: boolean
}

/** Members on each of them have these options; without a server PostgreSQL is left out. */
export function workPlaces(
  server: PostgresServer | null,
  options: { lease: Duration; partitions: number },
): Record<string, WorkPlace> {
  return {
    memory: {
      skip: false,
      create: async () => {
        const context = { clock: systemClock, telemetry: createTelemetry('store'), faults: noFaults }
        const store = { ...openMemoryStore(context), close: async () => undefined }
        return {
          open: (name) => headrace({ ...options, name, store: 'memory:' }, { store }),
          close: async () => undefined,
        }
      },
    },
    sqlite: {
      skip: false,
      create: async () => {
        const path = await sqliteFiles.create()
        const store = `sqlite:${path}`
        return {
          open: (name) => headrace({ ...options, name, store }),
          close: () => sqliteFiles.remove(path),
        }
      },
    },
    postgres: {
      skip: server === null,
      create: async () => {
        const store = server?.url({ schema: 'work' }) ?? ''
        return { open: (name) => headrace({ ...options, name, store }), close: async () => undefined }
      },
    },
  }
}
