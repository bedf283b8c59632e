// The roster: members, leader and allotments as rows. Every method is one synchronous transaction, so what it looks
// at is what it changes.
import { refuseOtherResource } from '../../roster/refuse.ts'
import type {
  AllotmentChange,
  Beat,
  Beaten,
  Decided,
  Decision,
  Grant,
  IdleMarks,
  Leader,
  NewMember,
  Resource,
  RosterStore,
  RosterView,
} from '../../roster/store.ts'
import type { Hint } from '../../store.ts'
import type { Database } from './database.ts'
import {
  type AllotmentRow,
  type LeaderRow,
  type MemberRow,
  toAllotment,
  toLeader,
  toMember,
} from './roster-rows.ts'
import type { Session } from './session.ts'
import type { Transaction } from './work.ts'

export interface SqliteRosterParts {
  database: Database
  session: Session
  hint(hint: Hint): void
  now(): number
}

export class SqliteRoster implements RosterStore {
  readonly #parts: SqliteRosterParts

  constructor(parts: SqliteRosterParts) {
    this.#parts = parts
  }

  join(member: NewMember, resources: readonly Resource[]): Promise<void> {
    return this.#write((tx) => {
      this.#register(resources)
      const { id, name, address, version, weight, concurrency, serves, leads, leaseMs } = member
      const said = [id, name, address, version, weight, concurrency, JSON.stringify(serves), Number(leads)]
      this.#parts.database.statement('save_member').run(...said, leaseMs, tx.now, tx.now)
      this.#changed(tx)
    })
  }

  serve(id: string, resources: readonly Resource[]): Promise<void> {
    return this.#write((tx) => {
      const member = this.#member(id)
      if (member === undefined) return
      this.#register(resources)
      const serves = new Set([
        ...(JSON.parse(member.serves) as string[]),
        ...resources.map(({ name }) => name),
      ])
      this.#parts.database.statement('save_serves').run(JSON.stringify([...serves]), id)
      this.#changed(tx)
    })
  }

  reach(id: string, address: string | null): Promise<void> {
    return this.#write((tx) => {
      if (this.#parts.database.statement('save_address').run(address, id).changes > 0) this.#changed(tx)
    })
  }

  async view(): Promise<RosterView> {
    const { database, session } = this.#parts
    return session.read(() => ({
      now: this.#parts.now(),
      version: this.#version(),
      leader: this.#leader(),
      members: (database.statement('all_members').all() as unknown as MemberRow[]).map(toMember),
      resources: (database.statement('all_resources').all() as unknown as Resource[]).map((row) => ({
        ...row,
      })),
      allotments: (database.statement('all_allotments').all() as unknown as AllotmentRow[]).map(toAllotment),
      idle: Object.fromEntries(
        database
          .statement('idle_resources')
          .all()
          .map(({ name, idle_since }) => [name as string, idle_since as number]),
      ),
      epochFloor: database.statement('epoch_floor').get()?.['next'] as number,
    }))
  }

  /** The roster's part of a pulse. [G2] [K1] */
  beatIn(tx: Transaction, beat: Beat): Beaten {
    const { database } = this.#parts
    const member = this.#member(beat.member)
    if (member === undefined) return { known: false }
    const { health, holding, leaseMs } = beat
    const refused = JSON.stringify(beat.refused)
    database
      .statement('save_beat')
      .run(tx.now, JSON.stringify(health), JSON.stringify(holding), refused, beat.member)
    if (refused !== member.refused) this.#changed(tx)
    this.#lead(beat, tx.now)
    const silent = database.statement('silent_members').all(tx.now - leaseMs)
    return {
      known: true,
      previousAt: member.heartbeat_at,
      leader: this.#leader(),
      version: this.#version(),
      silent: silent.map(({ id }) => id as string),
    }
  }

  #lead({ member, leads, leaseMs }: Beat, now: number): void {
    if (!leads) return
    const leader = this.#cutLease(now, leaseMs)
    const isFree = leader === null || leader.expiresAt <= now
    if (!isFree && leader.member !== member) return
    const term = isFree ? (leader?.term ?? 0) + 1 : leader.term
    this.#parts.database.statement('save_leader').run(member, term, now + leaseMs)
    this.#parts.database.statement('bring_back_heartbeats').run(now, now)
  }

  /** The lease; one that ends later than one can was written before the clock was set back. [K6] */
  #cutLease(now: number, leaseMs: number): Leader | null {
    const leader = this.#leader()
    if (leader === null || leader.expiresAt <= now + leaseMs) return leader
    const longestMs = Math.max(leaseMs, this.#member(leader.member)?.lease_ms ?? 0)
    const expiresAt = Math.min(leader.expiresAt, now + longestMs)
    this.#parts.database.statement('save_leader').run(leader.member, leader.term, expiresAt)
    return { ...leader, expiresAt }
  }

  decide(decision: Decision): Promise<Decided> {
    return this.#write((tx) => this.#decideIn(tx, decision))
  }

  #decideIn(tx: Transaction, { leader, term, leaseMs, gapMs, dead, changes }: Decision): Decided {
    const { now } = tx
    const lease = this.#leader()
    if (lease === null || lease.member !== leader || lease.term !== term || lease.expiresAt <= now) {
      return { kind: 'not-leader' }
    }
    const own = this.#member(leader)
    if (own === undefined || own.heartbeat_at < now - gapMs) return { kind: 'unsure' }
    if (dead.some((id) => (this.#member(id)?.heartbeat_at ?? -Infinity) >= now - leaseMs)) {
      return { kind: 'alive' }
    }
    for (const id of dead) this.#parts.database.statement('delete_member').run(id)
    const applied = changes.filter((change) => this.#change(change, now)).length
    if (applied > 0 || dead.length > 0) this.#changed(tx)
    return { kind: 'decided', applied }
  }

  #change({ resource, partition, from, to }: AllotmentChange, now: number): boolean {
    const { database } = this.#parts
    const { owner, epoch, next } = to
    const { changes } =
      from === null
        ? database.statement('add_allotment').run(resource, partition, owner, epoch, next, now)
        : database
            .statement('change_allotment')
            .run(
              owner,
              now,
              owner,
              owner,
              epoch,
              next,
              resource,
              partition,
              from.owner,
              from.epoch,
              from.next,
            )
    return changes > 0
  }

  grant(owner: string, grants: readonly Grant[]): Promise<boolean[]> {
    return this.#write((tx) => this.#grantIn(tx, owner, grants))
  }

  #grantIn(tx: Transaction, owner: string, grants: readonly Grant[]): boolean[] {
    const answers = grants.map(({ resource, partition, epoch, next, to }) => {
      const change = { from: { owner, epoch, next }, to: { owner: to, epoch: epoch + 1, next: null } }
      return this.#change({ resource, partition, ...change }, tx.now)
    })
    if (answers.includes(true)) this.#changed(tx)
    return answers
  }

  leave(id: string, grants: readonly Grant[]): Promise<void> {
    return this.#write((tx) => {
      this.#grantIn(tx, id, grants)
      this.#stepDownIn(tx, id)
      if (this.#parts.database.statement('delete_member').run(id).changes > 0) this.#changed(tx)
    })
  }

  drain(id: string, draining: boolean): Promise<boolean> {
    return this.#write((tx) => {
      const isKnown = this.#parts.database.statement('save_draining').run(Number(draining), id).changes > 0
      if (isKnown) this.#changed(tx)
      return isKnown
    })
  }

  stepDown(id: string): Promise<boolean> {
    return this.#write((tx) => this.#stepDownIn(tx, id))
  }

  #stepDownIn(tx: Transaction, id: string): boolean {
    const freed = this.#parts.database.statement('free_leader').run(tx.now, id, tx.now).changes > 0
    if (freed) this.#changed(tx)
    return freed
  }

  markIdle({ idle, busy }: IdleMarks): Promise<void> {
    return this.#write((tx) => {
      const mark = this.#parts.database.statement('mark_idle')
      for (const name of idle) mark.run(tx.now, name)
      for (const name of busy) mark.run(null, name)
    })
  }

  forget(resources: readonly string[], idleForMs: number): Promise<string[]> {
    return this.#write((tx) => {
      const { database } = this.#parts
      const rows = database.statement('all_members').all() as unknown as MemberRow[]
      const served = new Set(rows.flatMap(({ serves }) => JSON.parse(serves) as string[]))
      const forgettable = resources.filter((name) => !served.has(name))
      const removed = forgettable.filter(
        (name) => database.statement('delete_resource').run(name, tx.now - idleForMs).changes > 0,
      )
      let left = 0
      for (const name of resources) {
        database.statement('raise_epoch_floor').run(name, name)
        left += Number(database.statement('delete_allotments').run(name, name).changes)
      }
      if (removed.length > 0 || left > 0) this.#changed(tx)
      return removed
    })
  }

  #write<Answer>(run: (tx: Transaction) => Answer): Promise<Answer> {
    return this.#parts.session.write('roster', run)
  }

  #register(resources: readonly Resource[]): void {
    const { database } = this.#parts
    for (const resource of resources) {
      refuseOtherResource(
        database.statement('find_resource').get(resource.name) as Resource | undefined,
        resource,
      )
    }
    for (const { name, partitions } of resources) database.statement('add_resource').run(name, partitions)
    for (const { name } of resources) database.statement('mark_idle').run(null, name)
  }

  #member(id: string): MemberRow | undefined {
    return this.#parts.database.statement('find_member').get(id) as MemberRow | undefined
  }

  #leader(): Leader | null {
    const row = this.#parts.database.statement('find_leader').get() as LeaderRow | undefined
    return row === undefined ? null : toLeader(row)
  }

  #version(): number {
    return this.#parts.database.statement('roster_version').get()?.['next'] as number
  }

  #changed(tx: Transaction): void {
    this.#parts.database.statement('new_roster_version').run()
    tx.afterCommit(() => this.#parts.hint({ kind: 'roster' }))
  }
}
