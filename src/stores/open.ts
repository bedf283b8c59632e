// A store's address → the store. The only file that names concrete stores; each is loaded when it is used.
import { HeadraceError } from '../errors.ts'
import type { Store, StoreContext } from '../store.ts'

export async function openStore(address: string, context: StoreContext): Promise<Store> {
  if (address === 'memory:') {
    const { openMemoryStore } = await import('./memory/store.ts')
    return openMemoryStore(context)
  }
  if (address.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore(address.slice('sqlite:'.length), context)
  }
  throw new HeadraceError(
    'store_unknown',
    `the store address ${JSON.stringify(mask(address))} is not understood`,
    {
      remedy: 'write sqlite:./path/to/headrace.db or memory:',
    },
  )
}

/** An address without the password it may hold. */
export function mask(address: string): string {
  return address.replace(/\/\/([^:@/]*):[^@/]*@/, '//$1:***@')
}
