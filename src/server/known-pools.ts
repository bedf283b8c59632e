// The pools of the store by name, opened when they are first asked for, whoever made them.
import type { FastifyRequest } from 'fastify'
import { HeadraceError } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import { nearest } from '../nearest.ts'
import type { Pool } from '../pool/pool.ts'
import type { Controlled, StoredPool } from '../pool/store.ts'
import type { Ticks } from '../pool/ticks.ts'

/** The pool of ticks of who names none. */
export const TICKS = 'ticks'

export class KnownPools {
  readonly #race: Headrace
  readonly #ticks: Ticks | null
  /** No pool ever goes, and none changes its mode or partitions. */
  readonly #pools = new Map<string, Pool>()
  /** Those that the store was told to open, to be read. */
  readonly #readable = new Set<string>()

  /** Ticks null: those of the store, whoever moves them. */
  constructor(race: Headrace, ticks: Ticks | null) {
    this.#race = race
    this.#ticks = ticks
  }

  list(): Promise<StoredPool[]> {
    return this.#race.store.pool.browse.pools()
  }

  /** The pool that a request names, as it is stored, or `pool_unknown`. */
  stored(request: FastifyRequest): Promise<StoredPool> {
    return this.#find(nameOf(request))
  }

  /** The pool that a request names, open, or `pool_unknown`. */
  of(request: FastifyRequest): Promise<Pool> {
    return this.open(nameOf(request))
  }

  /** The pool of this name, open, or `pool_unknown`. */
  async open(name: string): Promise<Pool> {
    const known = this.#pools.get(name)
    if (known !== undefined) return known
    return this.#open(await this.#find(name))
  }

  /** The pool of ticks, or `pool_unknown` where nobody has made one. */
  ticks(): Pool | Promise<Pool> {
    return this.#ticks?.pool ?? this.#storedTicks()
  }

  async #storedTicks(): Promise<Pool> {
    const pool = await this.ticksIfAny()
    if (pool !== null) return pool
    throw new HeadraceError('pool_unknown', 'there are no ticks in this store', {
      remedy: 'start `headrace serve` on it, or call race.ticks() before race.start()',
    })
  }

  /** The pool of ticks; null: nobody has made one. */
  async ticksIfAny(): Promise<Pool | null> {
    if (this.#ticks !== null) return this.#ticks.pool
    const known = this.#pools.get(TICKS)
    if (known !== undefined) return known
    const stored = await this.find(TICKS)
    return stored === null ? null : this.#open(stored)
  }

  async #open({ name, mode, partitions, fansOut, payloads }: StoredPool): Promise<Pool> {
    // What the program has asked for stays as it is. Else all that is fixed is named, so that it may still ask for the pool
    // with what it is stored with.
    const pool = this.#race.known(name) ?? this.#race.pool(name, { mode, partitions, fansOut, payloads })
    await pool.open()
    this.#pools.set(name, pool)
    return pool
  }

  /** The control state of a pool: its pause, limits and quotas. */
  async controlOf(stored: StoredPool): Promise<Controlled> {
    await this.makeReadable(stored)
    return this.#race.store.pool.control.read(stored.name)
  }

  /** Lets the pool of this name be read from the store, or `pool_unknown`. */
  async openToRead(name: string): Promise<void> {
    if (!this.#readable.has(name)) await this.makeReadable(await this.#find(name))
  }

  /** Opens a pool in the store alone. The Headrace is not asked for it: who makes it there later may name its settings. */
  async makeReadable({ name, mode, partitions }: StoredPool): Promise<void> {
    if (this.#readable.has(name)) return
    await this.#race.store.pool.entries.open({ name, mode, partitions, rememberMs: null })
    this.#readable.add(name)
  }

  /** The pool of this name as it is stored; null: there is none. */
  find(name: string): Promise<StoredPool | null> {
    return this.#race.store.pool.browse.pool(name)
  }

  /** All pools are read only to find a name that is near to one that is unknown. */
  async #find(name: string): Promise<StoredPool> {
    const found = await this.find(name)
    if (found === null) throw poolUnknown(name, await this.list())
    return found
  }
}

function nameOf(request: FastifyRequest): string {
  return (request.params as { pool: string }).pool
}

function poolUnknown(name: string, pools: readonly StoredPool[]): HeadraceError {
  const asked = name.slice(0, 64)
  const near = nearest(
    asked,
    pools.map((pool) => pool.name),
  )
  return new HeadraceError('pool_unknown', `there is no pool ${JSON.stringify(asked)}`, {
    remedy:
      near === null
        ? 'list the pools with `headrace pool list`, or make this one with `headrace pool make NAME`'
        : `did you mean ${near}?`,
  })
}
