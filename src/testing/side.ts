// One of two stores that are compared: plays operations and puts its answers into a form that must be equal on
// both sides. Turns differ between stores, so each is replaced by the order in which it was first seen.
import { assert } from '../errors.ts'
import type { LogEvent } from '../log/store.ts'
import type { Entry, TakenRun } from '../pool/entry.ts'
import { compare, cursorOf } from '../pool/order.ts'
import type { EntryQuery, PoolSettings } from '../pool/store.ts'
import type { Store } from '../store.ts'
import { claimAll, claimOf } from './claim.ts'
import { MANY } from './pool-driver.ts'
import { type Operation, POOLS, type PoolKind } from './operations.ts'

/** How long the answers of repeated requests are kept; the steps of the clock lie on both sides of it. */
const KEEP_MS = 1000

export interface SideOptions {
  /** Opens the store of this side; called again after `reopen`. */
  open(): Promise<Store>
  /** Distinguishes pools and topics of runs that share a store. */
  run: string
  /** Is a reopened store still full? Otherwise `reopen` does nothing. */
  durable: boolean
}

export class Side {
  readonly #options: SideOptions
  readonly #turns = new Map<string, number>()
  /** Runs that were taken and not settled, the last one last. */
  readonly #taken: Record<PoolKind, TakenRun[]> = { work: [], ticks: [], solo: [] }
  readonly #settled: Record<PoolKind, TakenRun[]> = { work: [], ticks: [], solo: [] }
  #store: Store

  private constructor(options: SideOptions, store: Store) {
    this.#options = options
    this.#store = store
  }

  static async open(options: SideOptions): Promise<Side> {
    const side = new Side(options, await options.open())
    for (const kind of kinds()) await side.#openPool(POOLS[kind], kind)
    await side.#openTopic(86_400_000)
    return side
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** The entry as the store has it, for counting cells; not compared. */
  find(pool: PoolKind, name: { key: string; slot: number | null }): Promise<Entry | null> {
    return this.#store.pool.browse.get(this.#name(pool), name)
  }

  /** The run that the next settle will name. */
  runToSettle({ pool, stale }: Operation & { kind: 'settle' }): TakenRun | undefined {
    return stale === null ? this.#taken[pool].at(-1) : this.#settled[pool].at(-1 - stale)
  }

  async play(operation: Operation): Promise<unknown> {
    switch (operation.kind) {
      case 'put':
        return this.#put(operation)
      case 'cancel': {
        const { key, slot } = operation
        const name = slot === undefined ? { key } : { key, slot }
        return this.#store.pool.entries.cancel(this.#name(operation.pool), name)
      }
      case 'reschedule':
        return this.#reschedule(operation)
      case 'take':
        return this.#take(operation)
      case 'settle':
        return this.#settle(operation)
      case 'move':
        return this.#move(operation)
      case 'list':
        return this.#list(operation.pool, operation.query)
      case 'count':
        return this.#store.pool.browse.count(this.#name(operation.pool))
      case 'pulse': {
        const pools = kinds().map((kind) => ({ pool: this.#name(kind), partitions: partitionsOf(kind) }))
        const { now, nextDueAt } = await this.#store.pulse({ beat: null, pools })
        return { now, nextDueAt: kinds().map((kind) => nextDueAt.get(this.#name(kind))) }
      }
      case 'reopen':
        return this.#reopen()
      case 'advance':
        return null
    }
  }

  /** Everything the store holds, in comparable form. */
  async inventory(): Promise<unknown> {
    const pools: unknown[] = []
    // One after the other: turns are labelled in the order in which they are seen.
    for (const kind of kinds()) {
      const deaths = await this.#store.pool.browse.deaths(this.#name(kind), MANY)
      pools.push({
        entries: await this.#list(kind, { limit: MANY }),
        deaths: deaths.map((death) => JSON.stringify(death)).toSorted(),
      })
    }
    return { pools, events: await this.#events() }
  }

  #name(kind: PoolKind | 'topic'): string {
    return `${kind}-${this.#options.run}`
  }

  async #openPool(given: Omit<PoolSettings, 'name'>, kind: PoolKind): Promise<void> {
    const settings = { ...given, name: this.#name(kind) }
    await this.#store.pool.entries.open(settings)
    await claimAll(this.#store, settings.name, settings.partitions)
  }

  #openTopic(retentionMs: number | null): Promise<void> {
    return this.#store.log.open({ name: this.#name('topic'), partitions: 2, retentionMs })
  }

  async #reopen(): Promise<null> {
    if (!this.#options.durable) return null
    await this.#store.close()
    this.#store = await this.#options.open()
    // Nothing is named again: the store must know it.
    for (const kind of kinds()) {
      const { mode, partitions } = POOLS[kind]
      await this.#openPool({ mode, partitions, rememberMs: null }, kind)
    }
    await this.#openTopic(null)
    return null
  }

  async #put({ pool, puts, repeat }: Operation & { kind: 'put' }): Promise<unknown> {
    const request = { puts, repeat: repeat === null ? null : { ...repeat, keepMs: KEEP_MS } }
    const responses = await this.#store.pool.entries.put(this.#name(pool), [request])
    const entries = await this.#list(pool, { key: puts[0]?.key ?? '', limit: MANY })
    return { responses, entries }
  }

  async #reschedule({ pool, key, slot, at }: Operation & { kind: 'reschedule' }): Promise<unknown> {
    const answer = await this.#store.pool.entries.reschedule(this.#name(pool), { key, slot, at })
    return { answer, entries: await this.#list(pool, { key, limit: MANY }) }
  }

  async #take({ pool, lane, partitions, limit }: Operation & { kind: 'take' }): Promise<unknown> {
    const request = { lane, partitions, from: 0, limit: limit ?? MANY }
    const { now, runs } = await this.#store.pool.entries.take(this.#name(pool), request)
    for (const [index, run] of runs.entries()) {
      const earlier = runs.slice(0, index).findLast(({ partition }) => partition === run.partition)
      assert(earlier === undefined || earlier.dueAt <= run.dueAt, 'runs come in due order within a partition')
    }
    // Which of several runs with one dueAt a limit lets through is the store's own affair.
    if (limit !== null) return { now, dueAts: runs.map(({ dueAt }) => dueAt).toSorted((a, b) => a - b) }
    const sorted = runs.toSorted(compare)
    const isAgain = (known: TakenRun): boolean => sorted.some((run) => isSame(run, known))
    this.#taken[pool] = [...this.#taken[pool].filter((known) => !isAgain(known)), ...sorted]
    // Places are each store's own, as turns are.
    return {
      now,
      runs: sorted.map((run) => ({ ...run, place: null, turn: this.#label(pool, run) })),
    }
  }

  async #settle(operation: Operation & { kind: 'settle' }): Promise<unknown> {
    const { pool, outcome } = operation
    const run = this.runToSettle(operation)
    if (run === undefined)
      return this.#take({ kind: 'take', pool, lane: 'normal', partitions: null, limit: null })
    this.#taken[pool] = this.#taken[pool].filter((taken) => taken !== run)
    this.#settled[pool].push(run)
    const { key, slot, turn, seen, place } = run
    const settlements = [{ key, slot, turn, seen, outcome, ...(place === undefined ? {} : { place }) }]
    const claim = claimOf(POOLS[pool].partitions)
    const answers = await this.#store.pool.entries.settle(this.#name(pool), settlements, claim)
    return { answers, entries: await this.#list(pool, { key, limit: MANY }) }
  }

  /** Moves until nothing more is due: which ticks of one dueAt a limit lets through is the store's own affair. */
  async #move({ pool, limit }: Operation & { kind: 'move' }): Promise<unknown> {
    const latenessMs: number[] = []
    for (;;) {
      const claim = claimOf(POOLS[pool].partitions)
      const request = { pool: this.#name(pool), topic: this.#name('topic'), limit, claim }
      const moved = await this.#store.mover.move(request)
      latenessMs.push(...moved.latenessMs)
      if (moved.count === 0) {
        return {
          now: moved.now,
          nextDueAt: moved.nextDueAt,
          latenessMs: latenessMs.toSorted((a, b) => a - b),
        }
      }
    }
  }

  async #list(pool: PoolKind, query: EntryQuery): Promise<unknown[]> {
    const { entries } = await this.#store.pool.browse.list(this.#name(pool), query)
    const last = entries.at(-1)
    const rest = last === undefined ? [] : await this.#after(pool, { ...query, after: cursorOf(last) })
    return [...entries, ...rest].map((entry) => ({ ...entry, turn: this.#label(pool, entry) }))
  }

  /** One page more, so that cursors are compared, too. */
  async #after(pool: PoolKind, query: EntryQuery): Promise<Entry[]> {
    return (await this.#store.pool.browse.list(this.#name(pool), query)).entries
  }

  /** The events of each partition; those of one move and dueAt may stand in any order. */
  async #events(): Promise<unknown[]> {
    const pages = [0, 1].map(async (partition) => {
      const request = { from: [{ partition, offset: 0 }], limit: MANY, maxBytes: Infinity }
      const { events } = await this.#store.log.read(this.#name('topic'), request)
      assert(
        events.every(({ offset }, index) => offset === index),
        'offsets are contiguous',
      )
      assert(isInDueOrder(events), 'ticks of one move stand in due order')
      return events.map(({ time, headers, id, value }) => `${time} ${headers} ${id} ${value}`).toSorted()
    })
    return Promise.all(pages)
  }

  #label(pool: PoolKind, { partition, turn }: { partition: number; turn: number }): number {
    const name = `${pool}/${partition}/${turn}`
    const label = this.#turns.get(name) ?? this.#turns.size
    this.#turns.set(name, label)
    return label
  }
}

/** Of one pool and one moment the latest tick comes first; pools are moved one after the other. */
function isInDueOrder(events: LogEvent[]): boolean {
  const last = new Map<string, number>()
  return events.every(({ id, time, headers }) => {
    const move = `${id.split('/')[0]} ${time}`
    const lateMs = Number(headers?.replace(/\D/g, ''))
    const isLater = lateMs <= (last.get(move) ?? Infinity)
    last.set(move, lateMs)
    return isLater
  })
}

function isSame(a: TakenRun, b: TakenRun): boolean {
  return a.turn === b.turn && a.key === b.key && a.slot === b.slot
}

function partitionsOf(kind: PoolKind): number[] {
  return claimOf(POOLS[kind].partitions).held.map(({ partition }) => partition)
}

function kinds(): PoolKind[] {
  return ['work', 'ticks', 'solo']
}
