// A store's address → the store. The only file that names concrete stores; each is loaded when it is used.
import { systemClock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { noFaults } from '../fault.ts'
import { maskAddress } from '../mask.ts'
import type { Store, StoreContext } from '../store.ts'

export async function openStore(address: string, context: StoreContext): Promise<Store> {
  if (address === 'memory:') {
    const { openMemoryStore } = await import('./memory/store.ts')
    return openMemoryStore(context)
  }
  if (address.startsWith('sqlite:')) {
    const path = checkPath(address.slice('sqlite:'.length))
    return openSqlite(path, context)
  }
  if (/^postgres(ql)?:/.test(address)) {
    const { openPostgresStore } = await import('./postgres/store.ts')
    return openPostgresStore(address, context)
  }
  throw refusal(`the store address ${JSON.stringify(maskAddress(address))} is not understood`, HOW)
}

/** On a thread of its own, unless the caller has a clock or faults: those cannot be handed to one. */
async function openSqlite(path: string, context: StoreContext): Promise<Store> {
  if (context.clock === systemClock && context.faults === noFaults) {
    const { openSqliteThread } = await import('./sqlite/thread/open.ts')
    return openSqliteThread(path, context.telemetry)
  }
  const { openSqliteStore } = await import('./sqlite/store.ts')
  return openSqliteStore(path, context)
}

const HOW = 'write sqlite:./path/to/headrace.db, postgres://user@host/database or memory:'

/** SQLite would take these for a file of that name, or for a database that nobody else sees. */
function checkPath(path: string): string {
  if (path === '') throw refusal('the store address "sqlite:" names no file', HOW)
  if (path === ':memory:') {
    throw refusal('the store address "sqlite::memory:" names no file', 'write memory: to keep nothing')
  }
  if (/^\/\/(?!\/)/.test(path)) {
    const name = path.slice(2)
    throw refusal(
      `the store address ${JSON.stringify(`sqlite:${path}`)} has two slashes, and would name the file /${name}`,
      `write sqlite:${name} for a file in the working directory, or sqlite:///${name} from the root`,
    )
  }
  if (!path.includes('?')) return path
  const address = JSON.stringify(`sqlite:${path}`)
  throw refusal(`the store address ${address} has parameters`, 'name the file alone, without "?"')
}

function refusal(message: string, remedy: string): HeadraceError {
  return new HeadraceError('store_unknown', message, { remedy })
}
