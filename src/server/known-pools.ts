// The pools of the store by name, opened when they are first asked for, whoever made them.
import type { FastifyRequest } from 'fastify'
import { HeadraceError } from '../errors.ts'
import type { Headrace } from '../headrace.ts'
import { nearest } from '../nearest.ts'
import type { Pool } from '../pool/pool.ts'
import type { StoredPool } from '../pool/store.ts'

export class KnownPools {
  readonly #race: Headrace
  /** No pool ever goes, and none changes its mode or partitions. */
  readonly #pools = new Map<string, Pool>()

  constructor(race: Headrace) {
    this.#race = race
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
    const { mode, partitions } = await this.#find(name)
    const pool = this.#race.pool(name, { mode, partitions })
    await pool.open()
    this.#pools.set(name, pool)
    return pool
  }

  async #find(name: string): Promise<StoredPool> {
    const pools = await this.list()
    const found = pools.find((pool) => pool.name === name)
    if (found === undefined) throw poolUnknown(name, pools)
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
