// PostgreSQL stores in schemas of their own, whose clock the test moves.
import { Pool } from 'pg'
import { noFaults } from '../../src/fault.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { alternate } from '../../src/testing/alternate.ts'
import type { OpenSubject } from '../../src/testing/contract.ts'
import type { Durable } from '../../src/testing/durable-contract.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { PostgresServer } from '../servers/postgres.ts'

/** Has the store read its time from a table, and writes the virtual time there before each call. */
class Schema {
  readonly name: string
  readonly #pool: Pool
  #written: number | null = null
  #writing: Promise<unknown> = Promise.resolve()

  constructor(name: string, pool: Pool) {
    this.name = name
    this.#pool = pool
  }

  async ownClock(): Promise<void> {
    await this.#pool.query(`
      create table if not exists ${this.name}.test_clock (ms bigint not null);
      create or replace function ${this.name}.now_ms() returns bigint language sql volatile as
        $$ select ms from ${this.name}.test_clock $$;
      delete from ${this.name}.test_clock;
      insert into ${this.name}.test_clock values (0)`)
  }

  sync(clock: VirtualClock): Promise<unknown> {
    const now = clock.now()
    if (this.#written !== now) {
      this.#written = now
      this.#writing = this.#pool.query(`update ${this.name}.test_clock set ms = $1`, [now])
    }
    return this.#writing
  }
}

export interface PostgresPlaces extends Durable {
  openSubject: OpenSubject
  /** Two openings of one store, called in turns. */
  openTwice: OpenSubject
  close(): Promise<void>
}

/** Places on a server; `through` is the address that stores are opened by, when something stands between. */
export function postgresPlaces(server: PostgresServer, through?: (schema: string) => string): PostgresPlaces {
  const pool = new Pool({ connectionString: server.url(), max: 2 })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  const schemas = new Map<string, Schema>()
  let created = 0
  const addressOf = through ?? ((schema: string): string => server.url({ schema }))
  const create = async (): Promise<string> => {
    created += 1
    const name = `test_${process.pid}_${created}`
    schemas.set(name, new Schema(name, pool))
    return name
  }
  const open = async (name: string, clock: VirtualClock): Promise<Store> => {
    const schema = schemas.get(name) as Schema
    const context = { clock, telemetry: createTelemetry(clock.id()), faults: noFaults }
    const isNew = (await pool.query('select from pg_namespace where nspname = $1', [name])).rowCount === 0
    const store = await openStore(addressOf(name), context)
    if (isNew) await schema.ownClock()
    return onVirtualTime(store, () => schema.sync(clock))
  }
  const remove = async (name: string): Promise<void> => {
    schemas.delete(name)
    await pool.query(`drop schema ${name} cascade`)
  }
  const openSubject: OpenSubject = async (clock) => {
    const name = await create()
    const store = await open(name, clock)
    return { store, close: () => store.close().then(() => remove(name)) }
  }
  const openTwice: OpenSubject = async (clock) => {
    const name = await create()
    const store = alternate(await open(name, clock), await open(name, clock))
    return { store, close: () => store.close().then(() => remove(name)) }
  }
  return { create, open, remove, openSubject, openTwice, close: () => pool.end() }
}

/** The store, with each call of its ports behind a step of the clock. */
function onVirtualTime(store: Store, sync: () => Promise<unknown>): Store {
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value === 'object' && value !== null) return wrap(value)
        if (typeof value !== 'function' || name === 'watch' || name === 'close') {
          return typeof value === 'function' ? value.bind(target) : value
        }
        return async (...args: unknown[]) => {
          await sync()
          return Reflect.apply(value, target, args)
        }
      },
    })
  return wrap(store)
}
