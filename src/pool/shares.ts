// How the members share the limits of a whole pool. Each writes what it has of them into the control of the pool, by
// compare-and-set, and starts no more than that. Pure. Rules [L17] to [L21] of docs/spec/limits.md.
import type { Control, Limit, Limits, Part, Share } from './control.ts'

export const KINDS = ['concurrency', 'rate'] as const
/** Of concurrency a member uses one for each run under way, of a rate one for each start within the last `per`. */
export type Kind = (typeof KINDS)[number]

/** How much there is of a limit; null: there is none. */
export function sizeOf(limit: Limit, kind: Kind): number | null {
  return kind === 'concurrency' ? limit.concurrency : (limit.rate?.count ?? null)
}

/** What a member knows when it looks at its share. */
export interface Own {
  member: string
  /** The store's time. */
  now: number
  /** Who is in the roster, and in which version of it; null: that is not known, and nobody counts as gone. */
  roster: { version: number; members: ReadonlySet<string> } | null
  /** How much of each limit it uses now, and how much it could use. */
  used: Readonly<Record<Kind, number>>
  wants: Readonly<Record<Kind, number>>
}

interface Wishing {
  used: Readonly<Record<Kind, number>>
  /** How many handlers it runs at once, at most. */
  concurrency: number
  /** Something waits; and could not start for want of a share. */
  isHungry: boolean
  isHeldBack: boolean
}

/** What it uses and a little more, or all that it could use if it was short. */
export function wishOf(limit: Limit, { used, concurrency, isHungry, isHeldBack }: Wishing): Own['wants'] {
  if (isHeldBack) return { concurrency, rate: limit.rate?.count ?? 0 }
  const more = isHungry ? 1 : 0
  return {
    concurrency: Math.min(concurrency, used.concurrency + more),
    rate: Math.ceil(used.rate * 1.25) + more,
  }
}

export interface Reshared {
  control: Control
  /** Whether it must be written. */
  isChanged: boolean
  /** How much of each limit the member may use once that is written; less than it has while it shall give some up. */
  caps: Readonly<Record<Kind, number>>
}

const NOTHING: Part = { has: 0, wants: 0, cut: null }
/** Where there is less than one for each who wants some, they take turns this long. */
const TURN_MS = 1000
/** What is gone counts for so much longer: members know the store's time only nearly. */
const MARGIN_MS = 250

/** Gives up what others are short of and the member does not use, and takes what is free, up to its fair share. */
export function reshare(control: Control, own: Own): Reshared {
  const { limits } = control
  const others = control.shares
    .filter(({ member }) => member !== own.member)
    .flatMap((share) => withoutGone(share, limits, own))
  const before = control.shares.find(({ member }) => member === own.member)
  const seenIn = before?.seenIn ?? own.roster?.version ?? 0
  const share: Share = {
    member: own.member,
    seenIn,
    // One that gave its share back may want it again.
    endsAt: null,
    concurrency: before?.concurrency ?? NOTHING,
    rate: before?.rate ?? NOTHING,
  }
  const caps = { concurrency: 0, rate: 0 }
  let isShort = false
  for (const kind of KINDS) {
    const decided = decide(share[kind], { kind, size: sizeOf(limits.pool, kind), others, limits, own })
    share[kind] = decided.part
    caps[kind] = decided.cap
    isShort ||= decided.isShort
  }
  const shares = [...others, share].toSorted((a, b) => (a.member < b.member ? -1 : 1))
  const isChanged =
    tokensOf(shares) !== tokensOf(control.shares) || (isShort && wantsOf(share) !== wantsOf(before))
  return { control: { ...control, shares }, isChanged, caps }
}

/**
 * A member that stops, or holds nothing, has what it uses, and nothing else: of concurrency as long as its runs go on, of a
 * rate what its last starts count for. [L20]
 */
export function withoutShare(
  control: Control,
  member: string,
  { now, used }: { now: number; used: Own['used'] },
): Pick<Reshared, 'control' | 'isChanged'> {
  const perMs = control.limits.pool.rate?.perMs ?? 0
  const shares = control.shares.flatMap((share): Share[] => {
    if (share.member !== member) return [share]
    const rest = (kind: Kind): Part => ({ ...NOTHING, has: Math.min(used[kind], share[kind].has) })
    const [concurrency, rate] = [rest('concurrency'), rest('rate')]
    if (concurrency.has > 0) return [{ ...share, concurrency, rate }]
    if (share.endsAt !== null) return [share]
    return rate.has === 0 ? [] : [ended(share, rate.has, now + perMs + MARGIN_MS)]
  })
  return { control: { ...control, shares }, isChanged: tokensOf(shares) !== tokensOf(control.shares) }
}

/** Other limits: who has more than its part of a lower one is told to come down. [L21] */
export function withLimits(control: Control, limits: Limits, now: number): Control {
  const perMs = limits.pool.rate?.perMs ?? 0
  const isLonger = perMs > (control.limits.pool.rate?.perMs ?? Infinity)
  let shares = control.shares.map((share) => {
    return isLonger && share.endsAt !== null ? { ...share, endsAt: now + perMs + MARGIN_MS } : share
  })
  for (const kind of KINDS) {
    const size = sizeOf(limits.pool, kind)
    if (size === null) continue
    const isOver = sum(shares, kind) > size
    const parts = fairShares(
      size,
      shares.map((share) => ({ member: share.member, wants: share[kind].has })),
      0,
    )
    shares = shares.map((share) => {
      const cut = parts.get(share.member) ?? 0
      return { ...share, [kind]: { ...share[kind], cut: isOver && cut < share[kind].has ? cut : null } }
    })
  }
  return { ...control, limits, shares }
}

interface Wish {
  member: string
  wants: number
}

/**
 * As much as each wants, or an equal part for those who want more. Where there is less than one for each, those whose
 * turn it is have one.
 */
export function fairShares(size: number, wishes: readonly Wish[], turn: number): Map<string, number> {
  const wishing = wishes.filter(({ wants }) => wants > 0).toSorted(byMember)
  if (size < wishing.length) {
    const first = (turn * size) % wishing.length
    return new Map(
      wishing.map(({ member }, nth) => {
        const place = (nth - first + wishing.length) % wishing.length
        return [member, place < size ? 1 : 0]
      }),
    )
  }
  let left = size
  const parts = new Map<string, number>()
  for (const [nth, { member, wants }] of wishing.toSorted((a, b) => a.wants - b.wants).entries()) {
    const part = Math.min(wants, Math.floor(left / (wishing.length - nth)))
    left -= part
    parts.set(member, part)
  }
  return parts
}

interface Question {
  kind: Kind
  size: number | null
  others: readonly Share[]
  limits: Limits
  own: Own
}

interface Decided {
  part: Part
  cap: number
  /** Somebody has less than its fair share. */
  isShort: boolean
}

function decide(part: Part, { kind, size, others, limits, own }: Question): Decided {
  if (size === null) return { part, cap: Infinity, isShort: false }
  const wants = Math.min(own.wants[kind], size)
  const wishes = [
    ...others
      .filter(({ endsAt }) => endsAt === null)
      .map((each) => ({ member: each.member, wants: each[kind].wants })),
    { member: own.member, wants },
  ]
  const turnMs = Math.max(TURN_MS, kind === 'rate' ? (limits.pool.rate?.perMs ?? 0) : 0)
  const fair = fairShares(size, wishes, Math.floor(own.now / turnMs))
  const mine = fair.get(own.member) ?? 0
  const areShort = others.some(
    (each) => each.endsAt === null && each[kind].has < (fair.get(each.member) ?? 0),
  )
  const fairly = areShort ? mine : Infinity
  const keeps = Math.min(part.has, Math.max(Math.min(part.cut ?? Infinity, fairly), own.used[kind]))
  const free = size - sum(others, kind) - keeps
  // Who has come down takes part again; until then it takes nothing that it could not use. [L21]
  const cut = part.cut === null || keeps <= part.cut ? null : part.cut
  const has = keeps + (cut === null ? Math.max(0, Math.min(mine - keeps, free)) : 0)
  const cap = Math.min(has, fairly, cut ?? Infinity)
  return { part: { has, wants, cut }, cap, isShort: areShort || has < mine }
}

/** Who is gone runs nothing any more; what it started counts until its time is over. [L20] */
function withoutGone(share: Share, { pool }: Limits, { now, roster }: Own): Share[] {
  const perMs = pool.rate?.perMs ?? 0
  if (share.endsAt !== null) {
    // A clock that was set back must not make it last longer.
    const endsAt = Math.min(share.endsAt, now + perMs + MARGIN_MS)
    return endsAt <= now || pool.rate === null ? [] : [{ ...share, endsAt }]
  }
  const isGone = roster !== null && roster.version >= share.seenIn && !roster.members.has(share.member)
  if (!isGone) return [share]
  return share.rate.has === 0 || pool.rate === null
    ? []
    : [ended(share, share.rate.has, now + perMs + MARGIN_MS)]
}

function ended(share: Share, has: number, endsAt: number): Share {
  return { ...share, endsAt, concurrency: NOTHING, rate: { has, wants: 0, cut: null } }
}

/** Whether others have all of a limit that this member may not use. */
export function isSharedOut(
  { limits, shares }: Control,
  kind: Kind,
  { member, cap }: { member: string; cap: number },
): boolean {
  const others = shares.filter((share) => share.member !== member)
  return sum(others, kind) + cap >= (sizeOf(limits.pool, kind) ?? Infinity)
}

/** How much of a limit the members have together. */
function sum(shares: readonly Share[], kind: Kind): number {
  return shares.reduce((total, share) => total + share[kind].has, 0)
}

function tokensOf(shares: readonly Share[]): string {
  const told = shares
    .filter(({ endsAt, concurrency, rate }) => endsAt !== null || concurrency.has > 0 || rate.has > 0)
    .map(({ member, endsAt, concurrency, rate }) => {
      return [member, endsAt, concurrency.has, concurrency.cut, rate.has, rate.cut].join()
    })
  return told.toSorted().join(';')
}

function wantsOf(share: Share | undefined): string {
  return KINDS.map((kind) => share?.[kind].wants ?? 0).join()
}

function byMember(a: Wish, b: Wish): number {
  return a.member < b.member ? -1 : 1
}
