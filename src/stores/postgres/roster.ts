// The roster: every change is one statement.
import type { Held } from '../../fence.ts'
import { refuseOtherResource } from '../../roster/refuse.ts'
import type {
  Allotment,
  Decided,
  Decision,
  Grant,
  IdleMarks,
  Leader,
  Member,
  NewMember,
  RefusedRaise,
  Resource,
  RosterStore,
  RosterView,
} from '../../roster/store.ts'
import type { ServiceState } from '../../service.ts'
import type { Hint, StoreContext } from '../../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import { VITAL_READ } from './pools.ts'

/** Every change is a compare-and-set, or says the same when it is made again. */
const CHANGE: Call = { operation: 'commit', timeoutMs: 1000, again: 'undone' }
const SAME: Call = { operation: 'commit', timeoutMs: 1000, again: 'exact' }

export interface PostgresRosterParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  hint(hint: Hint): void
}

export class PostgresRoster implements RosterStore {
  readonly #parts: PostgresRosterParts

  constructor(parts: PostgresRosterParts) {
    this.#parts = parts
  }

  async join(member: NewMember, resources: readonly Resource[]): Promise<void> {
    await this.#refuseOthers(resources)
    const { id, name, address, version, weight, concurrency, serves, leads, leaseMs } = member
    const said = [id, name, address, version, weight, concurrency, textArray(serves), leads, leaseMs]
    const stored = await this.#write('join', [...said, ...columnsOf(resources)], SAME)
    refuse(stored, resources)
    this.#changed()
  }

  async serve(member: string, resources: readonly Resource[]): Promise<void> {
    await this.#refuseOthers(resources)
    refuse(await this.#write('serve', [member, ...columnsOf(resources)], SAME), resources)
    this.#changed()
  }

  async reach(member: string, address: string | null): Promise<void> {
    this.#ifAny(await this.#write('reach', [member, address], SAME))
  }

  async view(): Promise<RosterView> {
    const [row] = await this.#parts.connections.query('view', [], VITAL_READ)
    const rows = (name: string): Row[] => row?.[name] as Row[]
    return {
      now: row?.['now'] as number,
      version: row?.['version'] as number,
      leader: row?.['leader'] === null ? null : toLeader(row?.['leader'] as Row),
      members: rows('members').map(toMember),
      resources: rows('resources') as unknown as Resource[],
      allotments: rows('allotments') as unknown as Allotment[],
      idle: row?.['idle'] as Record<string, number>,
      epochFloor: row?.['epoch_floor'] as number,
    }
  }

  async decide({ leader, term, leaseMs, gapMs, dead, changes }: Decision): Promise<Decided> {
    const values = [
      leader,
      term,
      leaseMs,
      gapMs,
      textArray(dead),
      textArray(changes.map(({ resource }) => resource)),
      numberArray(changes.map(({ partition }) => partition)),
      textArray(changes.map(({ from }) => from?.owner ?? null)),
      numberArray(changes.map(({ from }) => from?.epoch ?? null)),
      textArray(changes.map(({ from }) => from?.next ?? null)),
      textArray(changes.map(({ to }) => to.owner)),
      numberArray(changes.map(({ to }) => to.epoch)),
      textArray(changes.map(({ to }) => to.next)),
    ]
    const [row] = await this.#write('decide', values, CHANGE)
    const kind = row?.['kind'] as Decided['kind']
    if (kind !== 'decided') return { kind }
    const applied = row?.['applied'] as number
    if (applied > 0 || dead.length > 0) this.#changed()
    return { kind, applied }
  }

  async grant(owner: string, grants: readonly Grant[]): Promise<boolean[]> {
    const granted = await this.#handOver(owner, grants, false)
    if (granted.includes(true)) this.#changed()
    return granted
  }

  async leave(member: string, grants: readonly Grant[]): Promise<void> {
    await this.#handOver(member, grants, true)
    this.#changed()
  }

  async drain(member: string, draining: boolean): Promise<boolean> {
    return this.#ifAny(await this.#write('drain', [member, draining], SAME))
  }

  async stepDown(member: string): Promise<boolean> {
    return this.#ifAny(await this.#write('step_down', [member], CHANGE))
  }

  async markIdle({ idle, busy }: IdleMarks): Promise<void> {
    await this.#write('mark_idle', [textArray(idle), textArray(busy)], SAME)
  }

  async forget(resources: readonly string[], idleForMs: number): Promise<string[]> {
    const rows = await this.#write('forget', [textArray(resources), idleForMs], CHANGE)
    this.#changed()
    return rows.map((row) => row['name'] as string)
  }

  async #handOver(owner: string, grants: readonly Grant[], leaves: boolean): Promise<boolean[]> {
    const values = [
      owner,
      textArray(grants.map(({ resource }) => resource)),
      numberArray(grants.map(({ partition }) => partition)),
      numberArray(grants.map(({ epoch }) => epoch)),
      textArray(grants.map(({ next }) => next)),
      textArray(grants.map(({ to }) => to)),
      leaves,
    ]
    const rows = await this.#write('grant', values, CHANGE)
    const granted = new Set(rows.map((row) => row['nth']))
    return grants.map((_, index) => granted.has(index + 1))
  }

  /** Before anything is written; what another registers at the same moment is found by the statement itself. */
  async #refuseOthers(resources: readonly Resource[]): Promise<void> {
    const names = textArray(resources.map(({ name }) => name))
    refuse(await this.#parts.connections.query('find_resources', [names], VITAL_READ), resources)
  }

  async #write(name: string, values: unknown[], call: Call): Promise<Row[]> {
    this.#parts.faults.at('roster.before-commit')
    const rows = await this.#parts.connections.query(name, values, call)
    this.#parts.faults.at('roster.after-commit')
    return rows
  }

  #ifAny(rows: Row[]): boolean {
    if (rows.length > 0) this.#changed()
    return rows.length > 0
  }

  #changed(): void {
    this.#parts.hint({ kind: 'roster' })
  }
}

function columnsOf(resources: readonly Resource[]): string[] {
  return [
    textArray(resources.map(({ name }) => name)),
    numberArray(resources.map(({ partitions }) => partitions)),
  ]
}

function refuse(stored: Row[], resources: readonly Resource[]): void {
  const byName = new Map(stored.map((row) => [row['name'], row as unknown as Resource]))
  for (const resource of resources) refuseOtherResource(byName.get(resource.name), resource)
}

function toLeader(row: Row): Leader {
  return {
    member: row['member'] as string,
    term: row['term'] as number,
    expiresAt: row['expires_at'] as number,
  }
}

function toMember(row: Row): Member {
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    address: row['address'] as string | null,
    version: row['version'] as string,
    weight: row['weight'] as number,
    concurrency: row['concurrency'] as number,
    serves: row['serves'] as string[],
    leads: row['leads'] as boolean,
    leaseMs: row['lease_ms'] as number | null,
    joinedAt: row['joined_at'] as number,
    heartbeatAt: row['heartbeat_at'] as number,
    draining: row['draining'] as boolean,
    health: JSON.parse(row['health'] as string) as Record<string, ServiceState>,
    holding: JSON.parse(row['holding'] as string) as Record<string, Held[]>,
    refused: JSON.parse(row['refused'] as string) as RefusedRaise[],
  }
}
