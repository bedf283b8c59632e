// What goes to a store's thread and back means the same on both sides: every contract is kept through the copies that
// messages are. The thread itself is left out, since a virtual clock cannot be handed to one.
import type { Store } from '../../src/store.ts'
import { StoreClient } from '../../src/stores/sqlite/thread/client.ts'
import { lend } from '../../src/stores/sqlite/thread/host.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import type { OpenSubject } from '../../src/testing/contract.ts'
import { fenceContract } from '../../src/testing/fence-contract.ts'
import { inspectContract } from '../../src/testing/inspect-contract.ts'
import { lockContract } from '../../src/testing/lock-contract.ts'
import { logContract } from '../../src/testing/log-contract.ts'
import { moverContract } from '../../src/testing/mover-contract.ts'
import { poolContract } from '../../src/testing/pool-contract.ts'
import { rosterContract } from '../../src/testing/roster-contract.ts'
import { openSqlite } from './open-sqlite.ts'

/** A store behind copies of what is asked of it and of what it answers. */
function behindCopies(store: Store): Promise<Store> {
  const client = new StoreClient({
    name: store.address,
    telemetry: createTelemetry('near'),
    post: (call) => void answer(structuredClone(call)),
    waits: () => undefined,
  })
  const answer = lend(store, (message) => client.receive(structuredClone(message)))
  return client.store()
}

const openBehindCopies: OpenSubject = async (clock) => {
  const { store, close } = await openSqlite(clock)
  return { store: await behindCopies(store), close }
}

for (const contract of [
  poolContract,
  logContract,
  moverContract,
  inspectContract,
  fenceContract,
  rosterContract,
  lockContract,
]) {
  contract('sqlite behind copies', openBehindCopies)
}
