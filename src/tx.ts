// Exported as `headrace/tx`: a transaction of yours, whatever library began it, as the store uses it. `{ tx }` takes each of
// them as it is; the adapters are for what cannot be recognized, such as a wrapper of your own.
import './check-floor.ts'
import { describe } from './check.ts'
import { HeadraceError } from './errors.ts'

/** A user's own transaction: a client of `pg`, or what has the same `query`, between its BEGIN and its COMMIT. */
export interface UserTransaction {
  query(query: { text: string; values: unknown[] }): PromiseLike<unknown>
}

/** The `sql` that postgres.js hands to the function of `sql.begin`. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: never[]): PromiseLike<unknown>
}

/** The `tx` that Drizzle hands to the function of `db.transaction`, of a PostgreSQL driver. */
export interface DrizzleTransaction {
  execute(query: string): PromiseLike<unknown>
  select: unknown
}

/** The `trx` that Kysely hands to the function of `db.transaction().execute`. */
export interface KyselyTransaction {
  executeQuery(query: never): PromiseLike<unknown>
}

/** The `trx` that Knex hands to the function of `knex.transaction`. */
export interface KnexTransaction {
  raw(text: string, values: never): PromiseLike<unknown>
}

/** The `tx` that Prisma hands to the function of `prisma.$transaction`. */
export interface PrismaTransaction {
  $executeRawUnsafe(text: string, ...values: never[]): PromiseLike<unknown>
}

/** What `{ tx }` takes. */
export type AnyTransaction =
  | UserTransaction
  | PostgresJsTransaction
  | DrizzleTransaction
  | KyselyTransaction
  | KnexTransaction
  | PrismaTransaction

type Send = (text: string, values: unknown[]) => PromiseLike<unknown>

const sending = (send: Send): UserTransaction => ({ query: ({ text, values }) => send(text, values) })

/** A transaction of `pg`: the client between BEGIN and COMMIT. */
export function fromPg(client: UserTransaction): UserTransaction {
  return client
}

/** A transaction of postgres.js. */
export function fromPostgresJs(sql: PostgresJsTransaction): UserTransaction {
  return sending((text, values) => sql.unsafe(text, values as never[]))
}

/** Drizzle asks a query for its SQL, and that for its text and parameters. */
export function fromDrizzle(tx: DrizzleTransaction): UserTransaction {
  return sending((text, values) => {
    const typings = values.map(() => 'none')
    const query = { getSQL: () => ({ toQuery: () => ({ sql: text, params: values, typings }) }) }
    return tx.execute(query as unknown as string)
  })
}

/** A transaction of Kysely. */
export function fromKysely(trx: KyselyTransaction): UserTransaction {
  return sending((sql, parameters) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
    return trx.executeQuery({ sql, parameters, query, queryId: { queryId: 'headrace' } } as never)
  })
}

/** Knex knows no `$1`: each becomes a `?` with a value of its own. */
export function fromKnex(trx: KnexTransaction): UserTransaction {
  return sending((text, values) => {
    const bindings: unknown[] = []
    const raw = text.replaceAll(/\?|\$(\d+)/g, (mark, nth?: string) => {
      if (nth === undefined) return `\\${mark}`
      bindings.push(values[Number(nth) - 1])
      return '?'
    })
    // An array is one value of each `?`; with none given, Knex reads the text as it is.
    return trx.raw(raw, bindings as never)
  })
}

/** A transaction of Prisma. */
export function fromPrisma(tx: PrismaTransaction): UserTransaction {
  return sending((text, values) => tx.$executeRawUnsafe(text, ...(values as never[])))
}

/** How each library's transaction is recognized; the first that fits. Some are functions, and some are proxies. */
const KNOWN: { has: readonly string[]; from: (tx: never) => UserTransaction }[] = [
  { has: ['$executeRawUnsafe'], from: fromPrisma },
  { has: ['executeQuery', 'selectFrom'], from: fromKysely },
  { has: ['execute', 'select', 'insert'], from: fromDrizzle },
  { has: ['unsafe', 'savepoint'], from: fromPostgresJs },
  // That of postgres.js outside of a transaction: the store refuses it by name.
  { has: ['unsafe', 'begin'], from: fromPostgresJs },
  { has: ['raw', 'isCompleted'], from: fromKnex },
  { has: ['raw', 'transaction'], from: fromKnex },
  { has: ['query'], from: fromPg },
]

/** The transaction as the store uses it, or `invalid_options`. */
export function transactionOf(tx: unknown): UserTransaction {
  const known = KNOWN.find(({ has }) => has.every((name) => isMethod(tx, name)))
  if (known !== undefined) return known.from(tx as never)
  if ((tx ?? null) === null) {
    throw new HeadraceError('invalid_options', `tx is ${String(tx)}, which is no transaction`, {
      remedy: 'give a transaction of yours, or leave tx out: then it counts at once',
    })
  }
  if (isMethod(tx, 'then')) {
    throw new HeadraceError('invalid_options', 'tx is a promise', {
      remedy: 'await it: const client = await pool.connect(), and BEGIN before it is given',
    })
  }
  throw new HeadraceError('invalid_options', `tx is ${describe(tx)}, which is no known transaction`, {
    remedy:
      'give the transaction of pg, postgres.js, Drizzle, Kysely, Knex or Prisma itself; of a wrapper, what fromPg, ' +
      'fromPostgresJs, fromDrizzle, fromKysely, fromKnex or fromPrisma of headrace/tx makes of the transaction in it',
  })
}

function isMethod(value: unknown, name: string): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as Record<string, unknown>)[name] === 'function'
}
