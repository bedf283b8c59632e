// What a roster refuses, in the same words in every store.
import { HeadraceError } from '../errors.ts'
import type { Resource } from './store.ts'

/** Refuses a resource that is asked for with another number of partitions. [G1] */
export function refuseOtherResource(stored: Resource | undefined, asked: Resource): void {
  if (stored === undefined || stored.partitions === asked.partitions) return
  throw new HeadraceError(
    'resource_mismatch',
    `${stored.name} has ${stored.partitions} partitions in the roster, and was asked for with ${asked.partitions}`,
    { remedy: 'use the stored number, or another name' },
  )
}
