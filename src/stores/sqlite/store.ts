// placeholder until the SQLite store is written
import { HeadraceError } from '../../errors.ts'
import type { Store, StoreContext } from '../../store.ts'

export function openSqliteStore(path: string, _context: StoreContext): Promise<Store> {
  throw new HeadraceError('store_unknown', `${path}: not yet`)
}
