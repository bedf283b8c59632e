// The memory store keeps every contract but the durable one: nothing of it survives its process.
import { noFaults } from '../../src/fault.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import type { OpenSubject } from '../../src/testing/contract.ts'
import { fenceContract } from '../../src/testing/fence-contract.ts'
import { lockContract } from '../../src/testing/lock-contract.ts'
import { inspectContract } from '../../src/testing/inspect-contract.ts'
import { logContract } from '../../src/testing/log-contract.ts'
import { moverContract } from '../../src/testing/mover-contract.ts'
import { poolContract } from '../../src/testing/pool-contract.ts'
import { rosterContract } from '../../src/testing/roster-contract.ts'

const open: OpenSubject = async (clock) => {
  const store = openMemoryStore({ clock, telemetry: createTelemetry(clock.id()), faults: noFaults })
  return { store, close: () => store.close() }
}

poolContract('memory', open)
logContract('memory', open)
moverContract('memory', open)
fenceContract('memory', open)
rosterContract('memory', open)
lockContract('memory', open)
inspectContract('memory', open)
