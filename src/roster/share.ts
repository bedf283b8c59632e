// Shares: the resources of outside collectors, and what a view says of one. Pure. Rules [Q3] to [Q7] of
// docs/spec/roster.md.
import { HeadraceError } from '../errors.ts'
import { DIVISIONS, type Division, printFilter, residuesFilter } from './filter.ts'
import type { Allotment, Member, Resource, RosterView } from './store.ts'

const KIND = 'share/'

/** How many shares, residues of all shares, and collectors of all shares there may be. [Q12] */
export const MOST_SHARES = 256
export const MOST_RESIDUES = 8192
export const MOST_COLLECTORS = 1000
/** A share is removed this long after its last collector left or was declared dead. [Q11] */
export const SHARE_IDLE_MS = 600_000

/** The resource that a share's residues are: one for each division, so that who divides otherwise gets none of it. */
export function shareResource(share: string, by: Division): string {
  return `${KIND}${by}/${share}`
}

/** The share and the division of a resource; null if it is no share. */
export function parseShare(resource: string): { share: string; by: Division } | null {
  const by = DIVISIONS.find((one) => resource.startsWith(`${KIND}${one}/`))
  return by === undefined ? null : { share: resource.slice(KIND.length + by.length + 1), by }
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

/**
 * Refuses one more collector, or one more share, than there may be; `joining` are collectors that the view may
 * lack, by id. [Q12]
 */
export function refuseTooMany(
  view: RosterView,
  joining: ReadonlyMap<string, Resource>,
  asked: Resource,
): void {
  const there = view.members.filter(({ serves }) => serves.some(isShare)).map(({ id }) => id)
  const collectors = new Set([...there, ...joining.keys()]).size
  if (collectors >= MOST_COLLECTORS) {
    throw full(`${collectors} collectors`, `at most ${MOST_COLLECTORS}`, 'let some leave')
  }
  const shares = new Map(
    [...view.resources, ...joining.values()]
      .filter(({ name }) => isShare(name))
      .map(({ name, partitions }) => [name, partitions]),
  )
  if (shares.has(asked.name)) return
  const remove = 'remove a share that is not used with DELETE /v1/shares/NAME (GET /v1/shares lists them)'
  if (shares.size >= MOST_SHARES) throw full(`${shares.size} shares`, `at most ${MOST_SHARES}`, remove)
  const residues = [...shares.values()].reduce((sum, partitions) => sum + partitions, 0)
  if (residues + asked.partitions <= MOST_RESIDUES) return
  throw full(
    `shares with ${residues} residues, and ${asked.partitions} more were asked for`,
    `at most ${MOST_RESIDUES} together`,
    `ask for fewer "partitions", or ${remove}`,
  )
}

function full(there: string, limit: string, remedy: string): HeadraceError {
  return new HeadraceError('shares_full', `there are ${there}; there may be ${limit}`, {
    remedy: `${remedy}; a share is removed ${SHARE_IDLE_MS / 60_000} minutes after its last collector is gone`,
  })
}

/** Refuses to remove a share that is collected. [Q11] */
export function refuseInUse(share: string, collectors: number): HeadraceError {
  return new HeadraceError('share_in_use', `the share ${share} has ${collectors} collectors`, {
    remedy:
      'stop them first: each leaves with DELETE /v1/shares/NAME/collectors/ID, or is declared dead after a lease without a heartbeat',
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

/** What a collector owns: what it may work on, and what it must release. */
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

/** Grows whenever a residue of the share changes hands, also when the share was removed in between. [Q7] */
export function epochOf(view: RosterView, { name }: Resource): number {
  return view.allotments
    .filter(({ resource }) => resource === name)
    .reduce((sum, { epoch }) => sum + epoch, view.epochFloor)
}
