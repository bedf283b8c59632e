// A worker that takes a partition over from an owner that went without a word.
import type { Lane } from '../../../src/pool/entry.ts'
import type { Entries, Mark } from '../../../src/pool/store.ts'
import { type Opening, type OpenWorker, openWorker, type waitingHandler } from './open-worker.ts'

export const held = (epoch: number): { partition: number; epoch: number }[] => [{ partition: 0, epoch }]

export interface TakenOver extends OpenWorker {
  marks: Mark[]
  crashesOf(key: string): Promise<number | undefined>
}

/** A worker whose partition another has, with some runs under way, each of so many crashes before. */
export async function underAnother(
  handler: ReturnType<typeof waitingHandler>['handler'],
  keys: Record<string, number>,
  opening: Opening & { had?: number; lane?: (key: string) => Lane; group?: string } = {},
): Promise<TakenOver> {
  const { had = 2, lane = () => 'normal' as const, group, entries: change, ...rest } = opening
  const marks: Mark[] = []
  const opened = await openWorker(handler, {
    ...rest,
    held: [],
    entries: (entries: Entries) => {
      const changed = change?.(entries) ?? {}
      return {
        ...changed,
        mark: (pool, asked, claim) => {
          if (claim.owner === 'me') marks.push(...asked)
          return (changed.mark ?? entries.mark.bind(entries))(pool, asked, claim)
        },
      }
    },
  })
  const { store, pool } = opened
  await pool.open()
  const claim = { owner: 'other', held: held(2) }
  await store.fences.raise('pool/work', { ...claim, concurrency: had })
  for (const key of Object.keys(keys))
    await pool.put(key, { lane: lane(key), ...(group !== undefined && { group }) })
  const crashesOf = async (key: string): Promise<number | undefined> =>
    (await store.pool.browse.get('work', { key, slot: null }))?.crashes
  for (const [key, crashes] of Object.entries(keys)) {
    const turn = (await store.pool.browse.get('work', { key, slot: null }))?.turn ?? 0
    if (crashes > 0) await store.pool.entries.mark('work', [{ key, slot: null, turn, crashes }], claim)
  }
  return { ...opened, marks, crashesOf }
}

export const none = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, 0]))
