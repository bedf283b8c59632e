// Who shall have which partition. Pure: balanced, sticky, few moves, the same for the same input in any order. [A1]

/** A member as a candidate: what it can serve, and how much of it. */
export interface Candidate {
  id: string
  weight: number
  serves: readonly string[]
}

/** A resource, and who has its partitions now; null: nobody that counts. */
export interface Holding {
  resource: string
  owners: readonly (string | null)[]
}

/** Per resource the owner of each partition; null: nobody can serve it. */
export type Plan = ReadonlyMap<string, readonly (string | null)[]>

interface Share {
  id: string
  weight: number
  /** Partitions of this resource that it has. */
  has: number[]
  /** How many it shall have. */
  quota: number
  /** How many of those it still has to get. */
  misses: number
}

/**
 * Resource by resource everyone gets its share rounded down, and some one more: those who have that many already,
 * then those with the least work. At the end single partitions change hands where that evens out the sums.
 */
export function allot(candidates: readonly Candidate[], holdings: readonly Holding[]): Plan {
  const members = candidates.toSorted((a, b) => compareText(a.id, b.id))
  const loads = new Map(members.map(({ id }) => [id, 0]))
  const plan = new Map<string, (string | null)[]>()
  const serving = servingOf(members)
  for (const holding of holdings.toSorted((a, b) => compareText(a.resource, b.resource))) {
    const owners = allotOne(serving.get(holding.resource) ?? [], holding.owners, loads)
    for (const owner of owners) if (owner !== null) loads.set(owner, (loads.get(owner) ?? 0) + 1)
    plan.set(holding.resource, owners)
  }
  evenOut(serving, plan, loads)
  return plan
}

/** The members that serve each resource, in their order. */
function servingOf(members: readonly Candidate[]): Map<string, Candidate[]> {
  const serving = new Map<string, Candidate[]>()
  for (const member of members) {
    for (const resource of new Set(member.serves)) {
      const able = serving.get(resource)
      if (able === undefined) serving.set(resource, [member])
      else able.push(member)
    }
  }
  return serving
}

function allotOne(
  able: readonly Candidate[],
  owners: readonly (string | null)[],
  loads: ReadonlyMap<string, number>,
): (string | null)[] {
  if (able.length === 0) return owners.map(() => null)
  const shares = able.map(({ id, weight }) => {
    return { id, weight, has: indexesOf(owners, id), quota: 0, misses: 0 }
  })
  setQuotas(shares, owners.length, loads)
  const planned: (string | null)[] = owners.map(() => null)
  for (const share of shares) {
    const keeps = share.has.slice(0, share.quota)
    for (const index of keeps) planned[index] = share.id
    share.misses = share.quota - keeps.length
  }
  for (const [index, owner] of planned.entries()) {
    if (owner !== null) continue
    const taker = takerOf(shares, loads)
    taker.misses -= 1
    planned[index] = taker.id
  }
  return planned
}

function setQuotas(shares: Share[], partitions: number, loads: ReadonlyMap<string, number>): void {
  const weights = shares.reduce((sum, { weight }) => sum + weight, 0)
  for (const share of shares) share.quota = Math.floor((partitions * share.weight) / weights)
  const rest = partitions - shares.reduce((sum, { quota }) => sum + quota, 0)
  const cutOff = ({ weight }: Share): number => (partitions * weight) % weights
  // There is less of a rest than there are shares that were rounded down.
  const first = shares
    .filter((share) => cutOff(share) > 0)
    .toSorted(
      (a, b) =>
        Number(b.has.length > b.quota) - Number(a.has.length > a.quota) ||
        cutOff(b) - cutOff(a) ||
        loadOf(a, loads) - loadOf(b, loads) ||
        compareText(a.id, b.id),
    )
  for (const share of first.slice(0, rest)) share.quota += 1
}

function loadOf({ id, weight }: Share, loads: ReadonlyMap<string, number>): number {
  return (loads.get(id) ?? 0) / weight
}

/** Who still misses the most of its quota; of several the one with the least work. */
function takerOf(shares: readonly Share[], loads: ReadonlyMap<string, number>): Share {
  return shares.reduce((best, share) => {
    const order =
      best.misses - share.misses ||
      loadOf(share, loads) - loadOf(best, loads) ||
      compareText(share.id, best.id)
    return order < 0 ? share : best
  })
}

/**
 * One more or one less of a resource is within its balance, so a partition may go from the one who has one more of it
 * to one who has one less and less work over all. Each step lowers the larger of two loads, so it ends.
 */
function evenOut(
  serving: ReadonlyMap<string, readonly Candidate[]>,
  plan: Map<string, (string | null)[]>,
  loads: Map<string, number>,
): void {
  for (let moved = true; moved;) {
    moved = false
    for (const [resource, owners] of plan) {
      const step = findStep(serving.get(resource) ?? [], owners, loads)
      if (step === null) continue
      owners[step.index] = step.to
      loads.set(step.from, (loads.get(step.from) ?? 0) - 1)
      loads.set(step.to, (loads.get(step.to) ?? 0) + 1)
      moved = true
    }
  }
}

function findStep(
  able: readonly Candidate[],
  owners: readonly (string | null)[],
  loads: ReadonlyMap<string, number>,
): { index: number; from: string; to: string } | null {
  const weights = able.reduce((sum, { weight }) => sum + weight, 0)
  const shares = able.map(({ id, weight }) => {
    const count = indexesOf(owners, id).length
    return { id, weight, count, exact: (owners.length * weight) / weights, load: loads.get(id) ?? 0 }
  })
  const givers = shares
    .filter(({ count, exact }) => count > exact)
    .toSorted(byLoad)
    .reverse()
  const takers = shares.filter(({ count, exact }) => count < exact).toSorted(byLoad)
  for (const giver of givers) {
    const taker = takers.find(({ load, weight }) => (load + 1) / weight < giver.load / giver.weight)
    if (taker !== undefined) {
      return { index: indexesOf(owners, giver.id).at(-1) as number, from: giver.id, to: taker.id }
    }
  }
  return null
}

function byLoad(a: { id: string; load: number; weight: number }, b: typeof a): number {
  return a.load / a.weight - b.load / b.weight || compareText(a.id, b.id)
}

function indexesOf(owners: readonly (string | null)[], id: string): number[] {
  return owners.flatMap((owner, index) => (owner === id ? [index] : []))
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
