// Outside collectors: members without a process of ours, whom the answering server speaks for. What a share is, is in
// share.ts; the reports in reports.ts. Rules [Q4] to [Q10] of docs/spec/roster.md.
import type { Clock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import type { Pulse, Store } from '../store.ts'
import { VERSION } from '../version.ts'
import { DIVISIONS, type Division } from './filter.ts'
import { legacyOf } from './plan.ts'
import { namedIn, parseRelease, printRelease } from './release.ts'
import { Reports } from './reports.ts'
import {
  type Collector,
  collectorsOf,
  epochOf,
  filterOf,
  findShare,
  holdingOf,
  parseShare,
  refuseInUse,
  refuseOtherDivision,
  refuseTooMany,
  SHARE_IDLE_MS,
  shareResource,
} from './share.ts'
import type { Allotment, Member, Resource, RosterView } from './store.ts'
import { type Advice, type CollectorLoad, type Pass, adviseWorkers } from './workers.ts'

const PARTITIONS = 32
/** A join is refused by a view of this age, so that a flood of joins that are too many reads no view each. [Q12] */
const REFUSES_FOR_MS = 1000

export interface CollectorsParts {
  store: Pick<Store, 'roster' | 'pulse'>
  clock: Clock
  /** As long as a member may be silent, here as in the roster. */
  leaseMs: number
}

export interface NewCollector {
  /** For people. */
  name?: string
  /** Its part of the residues is this to the sum of all. */
  weight?: number
  /** How many residues there are; as the store says, or 32, unless said. */
  partitions?: number
  by?: Division
}

/** Which collector of which share. */
export interface CollectorKey {
  share: string
  id: string
}

/** What a collector may work on, and until when. */
export interface Share {
  id: string
  /** Null: nothing yet. */
  filter: string | null
  /** What it must release, and name in a heartbeat once it has: see release.ts. Null if there is nothing. */
  release: string | null
  by: Division
  partitions: number
  epoch: number
  expiresAt: number
  leaseMs: number
}

export interface CollectorView extends CollectorLoad {
  name: string
  weight: number
  filter: string | null
  /** What it must release. */
  revoked: string | null
  draining: boolean
  joinedAt: number
  expiresAt: number
}

export interface ShareView extends Omit<Advice, 'collectors'> {
  share: string
  by: Division
  partitions: number
  epoch: number
  /** How many residues are in no collector's filter. */
  unserved: number
  collectors: CollectorView[]
}

/** A share among all shares. */
export interface ListedShare {
  share: string
  by: Division
  partitions: number
  collectors: number
  /** When it is removed unless somebody joins; null while it has collectors. */
  expiresAt: number | null
}

export class Collectors {
  readonly #parts: CollectorsParts
  readonly #reports: Reports
  /** The last view: as good as a new one while a beat names its version. */
  #seen: RosterView | null = null
  #seenAt = -Infinity
  /** The read under way, and the one after it: everyone who asks meanwhile gets the latter. */
  #reading: Promise<RosterView> | null = null
  #readingNext: Promise<RosterView> | null = null
  /** What is being joined, and may not be in a view yet. */
  readonly #joining = new Map<string, Resource>()

  constructor(parts: CollectorsParts) {
    this.#parts = parts
    this.#reports = new Reports(parts.clock)
  }

  /** A new collector; it has nothing before the leader has seen it. [Q4] */
  async join(
    share: string,
    { name = 'collector', weight = 1, by = 'id', ...given }: NewCollector = {},
  ): Promise<Share> {
    if (this.#seen !== null && this.#parts.clock.mono() - this.#seenAt < REFUSES_FOR_MS)
      refuseTooMany(this.#seen, this.#joining, {
        name: shareResource(share, by),
        partitions: given.partitions ?? PARTITIONS,
      })
    const before = await this.#look()
    refuseOtherDivision(collectorsOf(before, share)[0]?.by ?? by, share, by)
    const resource = shareResource(share, by)
    const stored = before.resources.find((known) => known.name === resource)
    const partitions = given.partitions ?? stored?.partitions ?? PARTITIONS
    refuseTooMany(before, this.#joining, { name: resource, partitions })
    const id = this.#parts.clock.id()
    const { leaseMs } = this.#parts
    const unused = { address: null, version: VERSION, concurrency: 1, leads: false }
    const member = { id, name, weight, serves: [resource], leaseMs, ...unused }
    this.#joining.set(id, { name: resource, partitions })
    const view = await this.#parts.store.roster
      .join(member, [{ name: resource, partitions }])
      .then(() => this.#look())
      .finally(() => this.#joining.delete(id))
    return this.#shareOf(view, { share, id }, find(view, { share, id }).member.heartbeatAt)
  }

  /** Its share as it stands; changes nothing. [Q5] */
  async read(key: CollectorKey, by?: Division): Promise<Share> {
    const view = await this.#look()
    const { member, by: divided } = find(view, key)
    if (by !== undefined) refuseOtherDivision(divided, key.share, by)
    return this.#shareOf(view, key, member.heartbeatAt)
  }

  /** Keeps a collector alive. It no longer works on what it names: what it was asked to release, or a part of that. [Q5] [Q6] */
  async heartbeat(key: CollectorKey, release?: string): Promise<Share> {
    const released = release === undefined ? [] : parseRelease(release)
    // Looked up before the beat: an id from outside must not keep a member alive that is no collector.
    await this.#find(key)
    const { now, beaten } = await this.#beat(key.id)
    if (beaten === null || !beaten.known) throw unknown(key)
    const view = this.#seen?.version === beaten.version ? this.#seen : await this.#look()
    const { revoked } = holdingOf(view, find(view, key))
    const granted = namedIn(revoked, released)
    const share = this.#shareOf(view, key, now, granted)
    await this.#grant(key.id, granted)
    return share
  }

  /** Keeps what a pass took, and tells what it means. [Q10] */
  async finished(key: CollectorKey, pass: Pass): Promise<CollectorLoad> {
    const { member, resource } = find(await this.#look(), key)
    this.#reports.add(member.id, pass)
    return this.#advise([member], resource).collectors[0] as CollectorLoad
  }

  /** Hands over what it has, and removes it; answers how many residues went. [Q8] */
  async leave(key: CollectorKey): Promise<number> {
    const view = await this.#look()
    const grants = legacyOf(view, find(view, key).member.id)
    await this.#parts.store.roster.leave(key.id, grants)
    this.#reports.forget(key.id)
    this.#seen = null
    return grants.length
  }

  /** Who collects a share, and how many should; refuses a name that nobody ever joined. */
  async view(share: string): Promise<ShareView> {
    const view = await this.#look()
    const { resource, by } = findShare(view, share)
    const collectors = collectorsOf(view, share).filter((collector) => collector.by === by)
    const { collectors: loads, ...advice } = this.#advise(
      collectors.map(({ member }) => member),
      resource,
    )
    const served = collectors.flatMap((collector) => holdingOf(view, collector).kept)
    return {
      share,
      by,
      partitions: resource.partitions,
      epoch: epochOf(view, resource),
      unserved: resource.partitions - served.length,
      ...advice,
      collectors: collectors.map((collector, nth) =>
        this.#viewOf(view, collector, loads[nth] as CollectorLoad),
      ),
    }
  }

  /** All shares, by name. */
  async list(): Promise<ListedShare[]> {
    const view = await this.#look()
    const counts = new Map<string, number>()
    for (const name of view.members.flatMap(({ serves }) => serves))
      counts.set(name, (counts.get(name) ?? 0) + 1)
    return view.resources.flatMap(({ name, partitions }) => {
      const parsed = parseShare(name)
      if (parsed === null) return []
      const collectors = counts.get(name) ?? 0
      const idleSince = view.idle[name] ?? view.now
      return [
        { ...parsed, partitions, collectors, expiresAt: collectors > 0 ? null : idleSince + SHARE_IDLE_MS },
      ]
    })
  }

  /** Removes a share that nobody collects; answers how many residues it had. [Q11] */
  async remove(share: string): Promise<number> {
    const view = await this.#look()
    const { resource } = findShare(view, share)
    const collectors = collectorsOf(view, share).length
    if (collectors > 0) throw refuseInUse(share, collectors)
    const { roster } = this.#parts.store
    const names = DIVISIONS.map((by) => shareResource(share, by))
    await roster.markIdle({ idle: names, busy: [] })
    const removed = await roster.forget(names, 0)
    this.#seen = null
    // Somebody joined meanwhile.
    if (!removed.includes(resource.name)) throw refuseInUse(share, 1)
    return resource.partitions
  }

  /** Hands over what its collector has released, unless it has changed hands since the request. */
  async #grant(owner: string, revoked: readonly Allotment[]): Promise<void> {
    const grants = revoked.flatMap(({ resource, partition, epoch, next }) => {
      return next === null ? [] : [{ resource, partition, epoch, next, to: next }]
    })
    if (grants.length > 0) await this.#parts.store.roster.grant(owner, grants)
  }

  #beat(member: string): Promise<Pulse> {
    const { store, leaseMs } = this.#parts
    const unsaid = { leads: false, health: {}, holding: {}, refused: [] }
    return store.pulse({ beat: { member, leaseMs, ...unsaid }, pools: [] })
  }

  async #find(key: CollectorKey): Promise<Collector> {
    const isSeen = this.#seen?.members.some(({ id }) => id === key.id) === true
    return find(isSeen && this.#seen !== null ? this.#seen : await this.#look(), key)
  }

  /**
   * A view that is read from now on. One read at a time: it grows with everything that is shared, and a crowd of
   * requests must not read it as often as they are many.
   */
  #look(): Promise<RosterView> {
    this.#readingNext ??= this.#readAfter(this.#reading)
    return this.#readingNext
  }

  async #readAfter(before: Promise<RosterView> | null): Promise<RosterView> {
    await before?.catch(() => undefined)
    this.#reading = this.#readingNext
    this.#readingNext = null
    const view = await this.#parts.store.roster.view()
    this.#seen = view
    this.#seenAt = this.#parts.clock.mono()
    return view
  }

  #shareOf(
    view: RosterView,
    key: CollectorKey,
    heartbeatAt: number,
    granted: readonly Allotment[] = [],
  ): Share {
    const collector = find(view, key)
    const { member, resource, by } = collector
    // Two that joined at the same moment may not have seen each other: one of them finds out here.
    refuseOtherDivision(collectorsOf(view, key.share)[0]?.by ?? by, key.share, by)
    const { leaseMs } = this.#parts
    const { kept, revoked } = holdingOf(view, collector)
    return {
      id: member.id,
      filter: filterOf(kept, resource),
      release: printRelease(revoked.filter((one) => !granted.includes(one))),
      by,
      partitions: resource.partitions,
      epoch: epochOf(view, resource),
      expiresAt: heartbeatAt + leaseMs,
      leaseMs,
    }
  }

  #viewOf(view: RosterView, collector: Collector, load: CollectorLoad): CollectorView {
    const { name, weight, draining, joinedAt, heartbeatAt } = collector.member
    const { kept, revoked } = holdingOf(view, collector)
    return {
      ...load,
      name,
      weight,
      filter: filterOf(kept, collector.resource),
      revoked: filterOf(revoked, collector.resource),
      draining,
      joinedAt,
      expiresAt: heartbeatAt + this.#parts.leaseMs,
    }
  }

  #advise(members: readonly Member[], { partitions }: Resource): Advice {
    const reported = members.map(({ id }) => ({ id, reports: this.#reports.of(id) }))
    return adviseWorkers(reported, { now: this.#reports.now, partitions })
  }
}

function find(view: RosterView, key: CollectorKey): Collector {
  const collector = collectorsOf(view, key.share).find(({ member }) => member.id === key.id)
  if (collector === undefined) throw unknown(key)
  return collector
}

function unknown({ share, id }: CollectorKey): HeadraceError {
  return new HeadraceError(
    'collector_unknown',
    `the share ${share} has no collector ${JSON.stringify(id.slice(0, 64))}: it left, was silent for a lease, or never joined`,
    { remedy: `work on nothing more, and join again with POST /v1/shares/${share}/collectors` },
  )
}
