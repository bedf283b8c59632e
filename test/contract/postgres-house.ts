// A PostgreSQL server with stores on the system's clock, some of them through a proxy; all closed at the end of the file.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { Client } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { type Telemetry, createTelemetry } from '../../src/telemetry.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'

export interface House {
  server: PostgresServer
  /** For tests, when there is no server. */
  skip: string | false
  newSchema(): string
  newProxy(): Promise<Proxy>
  open(schema: string, proxy?: Proxy, telemetry?: Telemetry): Promise<Store>
  /** Begins a transaction of somebody else, who has run this in it. */
  holding(sql: string): Promise<Holding>
  /** Closes something at the end of the file. */
  closeAfter(what: { close(): Promise<void> }): void
}

/** A transaction that is open until it is let go, or undone at its disposal. */
export interface Holding extends AsyncDisposable {
  run(sql: string): Promise<unknown>
  letGo(): Promise<unknown>
}

export async function openHouse(): Promise<House> {
  const found = await startPostgres(15, { fsync: false })
  const server = found as PostgresServer
  const opened: { close(): Promise<void> }[] = []
  after(async () => {
    for (const each of opened) await each.close()
    await found?.remove()
  })
  let schemas = 0
  return {
    server,
    skip: found === null ? 'it is not installed' : false,
    newSchema: () => `own_${(schemas += 1)}`,
    async newProxy() {
      const proxy = await startProxy(server.port)
      opened.push(proxy)
      return proxy
    },
    async open(schema, proxy, telemetry) {
      const url = new URL(server.url({ schema }))
      if (proxy !== undefined) url.port = String(proxy.port)
      const context = {
        clock: systemClock,
        telemetry: telemetry ?? createTelemetry('test'),
        faults: noFaults,
      }
      const store = await openStore(url.href, context)
      opened.push(store)
      return store
    },
    async holding(sql) {
      const client = new Client({ connectionString: server.url() })
      await client.connect()
      await client.query(`begin; ${sql}`)
      return {
        run: (text) => client.query(text),
        letGo: () => client.query('commit'),
        [Symbol.asyncDispose]: () => client.end(),
      }
    },
    closeAfter: (what) => void opened.push(what),
  }
}

/** Waits until something is so, with a deadline. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `${what} in time`)
    await systemClock.sleep(10)
  }
}
