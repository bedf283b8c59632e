// A pool's mode and number of partitions are fixed at its first use.
import { HeadraceError } from '../errors.ts'
import type { PoolSettings } from './store.ts'

type Fixed = Pick<PoolSettings, 'name' | 'mode' | 'partitions'>

/** How long the records of deaths are kept where nobody says. [Z4] */
export const DEAD_FOR_MS = 30 * 24 * 3_600_000

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

/** Refuses one process that asks twice, with another time: the second would be ignored. */
export function refuseOtherRemember(known: PoolSettings, asked: PoolSettings): void {
  refuseOtherTime(known, { word: 'remember', before: known.rememberMs, now: asked.rememberMs })
  refuseOtherTime(known, { word: 'deadFor', before: known.deadForMs ?? null, now: asked.deadForMs ?? null })
}

function refuseOtherTime(
  { name }: PoolSettings,
  { word, before, now }: { word: string; before: number | null; now: number | null },
): void {
  if (now === null || now === before) return
  const write = (ms: number | null): string => (ms === null ? `no \`${word}\`` : `\`${word}\` of ${ms} ms`)
  throw new HeadraceError(
    'pool_mismatch',
    `the pool ${name} was made with ${write(before)}, and asked for with ${write(now)}`,
    { remedy: 'name it where the pool is first asked for' },
  )
}

/** Refuses ticks that are asked for with another topic than the one they move to. */
export function refuseOtherDestination(
  ticks: { pool: { name: string }; topic: { name: string } },
  topic: string | undefined,
): void {
  if (topic === undefined || topic === ticks.topic.name) return
  throw new HeadraceError(
    'topic_mismatch',
    `the ticks ${ticks.pool.name} move to the topic ${ticks.topic.name}, and were asked for with ${topic}`,
    { remedy: 'use the same topic, or another name for these ticks' },
  )
}
