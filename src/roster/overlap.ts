// Which partitions two members believe to own at once. It must be none. Pure. [O1]
import type { Fence } from '../fence.ts'
import type { RosterView } from './store.ts'

/** The fences of each resource, by its name. */
export type Fences = ReadonlyMap<string, readonly Fence[]>

/** A member that says it holds what by its fence is another's. */
export interface Overlap {
  resource: string
  partition: number
  /** Who says so, and under which epoch. */
  member: string
  epoch: number
  /** Where the fence stands. */
  fence: { owner: string; epoch: number }
}

/**
 * One for each partition and member that says so. Fences are read after the view: a raise in between is later than
 * every beat in it, so it makes nothing overlap that does not.
 */
export function overlapsOf(view: RosterView, fences: Fences, trustMs: number): Overlap[] {
  const trusting = view.members.filter(({ heartbeatAt }) => view.now - heartbeatAt < trustMs)
  return trusting.flatMap((member) =>
    Object.entries(member.holding).flatMap(([resource, held]) =>
      held.flatMap(({ partition, epoch }): Overlap[] => {
        const fence = fences.get(resource)?.find((each) => each.partition === partition)
        if (fence === undefined || member.heartbeatAt <= fence.raisedAt) return []
        if (!isAbove(fence, { owner: member.id, epoch })) return []
        const stands = { owner: fence.owner, epoch: fence.epoch }
        return [{ resource, partition, member: member.id, epoch, fence: stands }]
      }),
    ),
  )
}

/** What is given but not raised yet stands below its epoch: nobody else can write there under a later one. */
function isAbove(fence: Fence, said: { owner: string; epoch: number }): boolean {
  return fence.epoch > said.epoch || (fence.epoch === said.epoch && fence.owner !== said.owner)
}

/** How many partitions overlap, however many members say so. */
export function countPartitions(overlaps: readonly Overlap[]): number {
  return new Set(overlaps.map(({ resource, partition }) => `${partition} ${resource}`)).size
}
