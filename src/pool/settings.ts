// What of a pool is fixed at its first use: its mode, its number of partitions, whether it fans out, and which
// payloads it keeps.
import { HeadraceError } from '../errors.ts'
import type { Lane } from './entry.ts'
import type { PoolSettings } from './store.ts'

type Fixed = Pick<PoolSettings, 'name' | 'mode' | 'partitions' | 'fansOut' | 'payloads'>

/** How long the records of deaths are kept where nobody says. [Z4] */
export const DEAD_FOR_MS = 30 * 24 * 3_600_000

/** The lane of the puts that name none. [E5] */
export function laneOf({ fansOut = false }: Pick<PoolSettings, 'fansOut'>): Lane {
  return fansOut ? 'fanout' : 'normal'
}

/** Refuses a pool that is asked for with other fixed settings; what is left out is as it was stored. [E1] [E5] */
export function refuseOtherSettings(stored: Fixed, asked: Fixed): void {
  const { fansOut = false, payloads = 'latest' } = stored
  const isSame = (asked.fansOut ?? fansOut) === fansOut && (asked.payloads ?? payloads) === payloads
  if (isSame && stored.mode === asked.mode && stored.partitions === asked.partitions) return
  const more = (settings: Fixed): string =>
    `, fansOut ${settings.fansOut ?? fansOut}, payloads ${settings.payloads ?? payloads}`
  const write = (settings: Fixed): string =>
    `mode ${settings.mode} and ${settings.partitions} partitions${isSame ? '' : more(settings)}`
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
  refuseOtherTime(known, {
    word: 'throttle',
    before: known.throttleMs ?? null,
    now: asked.throttleMs ?? null,
  })
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
