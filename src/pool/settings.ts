// A pool's mode and number of partitions are fixed at its first use.
import { HeadraceError } from '../errors.ts'
import type { PoolSettings } from './store.ts'

type Fixed = Pick<PoolSettings, 'name' | 'mode' | 'partitions'>

/** Refuses a pool that is asked for with another mode or number of partitions. [E1] */
export function refuseOtherSettings(stored: Fixed, asked: Fixed): void {
  if (stored.mode === asked.mode && stored.partitions === asked.partitions) return
  const write = (settings: Fixed): string => `mode ${settings.mode} and ${settings.partitions} partitions`
  throw new HeadraceError(
    'pool_mismatch',
    `the pool ${stored.name} has ${write(stored)}, and was asked for with ${write(asked)}`,
    { remedy: 'use the stored settings, or another pool name' },
  )
}
