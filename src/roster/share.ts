// Shares: the resources of outside collectors, and what a view says of one. Pure. Rules [Q3] to [Q7] of
// docs/spec/roster.md.
import { HeadraceError } from '../errors.ts'
import { DIVISIONS, type Division, printFilter, residuesFilter } from './filter.ts'
import type { Allotment, Member, Resource, RosterView } from './store.ts'

const KIND = 'share/'

/** The resource that a share's residues are: one for each division, so that who divides otherwise gets none of it. */
export function shareResource(share: string, by: Division): string {
  return `${KIND}${by}/${share}`
}

/** Whether a resource is a share: it is served by collectors from outside, which come and go. */
export function isShare(resource: string): boolean {
  return resource.startsWith(KIND)
}

/** A collector: the member, and the resource that it serves. */
export interface Collector {
  member: Member
  resource: Resource
  by: Division
}

/** Everyone who collects a share, in the order in which they joined. */
export function collectorsOf(view: RosterView, share: string): Collector[] {
  const found = DIVISIONS.flatMap((by) => {
    const name = shareResource(share, by)
    const resource = view.resources.find((known) => known.name === name)
    if (resource === undefined) return []
    return view.members
      .filter(({ serves }) => serves.includes(name))
      .map((member) => ({ member, resource, by }))
  })
  return found.toSorted(
    (a, b) => a.member.joinedAt - b.member.joinedAt || (a.member.id < b.member.id ? -1 : 1),
  )
}

/** A share by its name: as its collectors divide it, or, if there are none, as others did. */
export function findShare(view: RosterView, share: string): { resource: Resource; by: Division } {
  const [first] = collectorsOf(view, share)
  const found = (first === undefined ? DIVISIONS : [first.by]).flatMap((by) => {
    const resource = view.resources.find(({ name }) => name === shareResource(share, by))
    return resource === undefined ? [] : [{ resource, by }]
  })
  if (found[0] !== undefined) return found[0]
  throw new HeadraceError('share_unknown', `there is no share ${JSON.stringify(share.slice(0, 64))}`, {
    remedy: 'a share begins with its first collector: POST /v1/shares/NAME/collectors',
  })
}

/** Refuses a division that is not that of those who joined before: they would collect the same objects. [Q3] */
export function refuseOtherDivision(known: Division, share: string, asked: Division): void {
  if (known === asked) return
  throw new HeadraceError(
    'resource_mismatch',
    `the share ${share} is divided by ${known}, and was asked for by ${asked}`,
    { remedy: `join with "by": "${known}", or use another name` },
  )
}

/** What a collector owns: what it may work on, and what it shall put down. */
export function holdingOf(
  view: RosterView,
  { member, resource }: Collector,
): { kept: Allotment[]; revoked: Allotment[] } {
  const owned = view.allotments.filter((one) => one.resource === resource.name && one.owner === member.id)
  return {
    kept: owned.filter(({ next }) => next === null),
    revoked: owned.filter(({ next }) => next !== null),
  }
}

/** The filter of some residues; null: there is none. */
export function filterOf(allotments: readonly Allotment[], { partitions }: Resource): string | null {
  if (allotments.length === 0) return null
  return printFilter(
    residuesFilter(
      partitions,
      allotments.map(({ partition }) => partition),
    ),
  )
}

/** Grows whenever a residue of the share changes hands. [Q7] */
export function epochOf(view: RosterView, { name }: Resource): number {
  return view.allotments
    .filter(({ resource }) => resource === name)
    .reduce((sum, { epoch }) => sum + epoch, 0)
}
