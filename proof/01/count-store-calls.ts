// Loaded into a server by --import: counts what it asks of SQLite, from beneath the product's own telemetry. A
// transaction is one call, and so is a statement outside one; PRAGMA data_version is none. The count goes to
// the file that COUNT_FILE names.
import { writeFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'

const file = process.env['COUNT_FILE'] ?? ''
let calls = 0
let inTransaction = false

/** Counts a call that was made, and follows where transactions begin and end. */
function count(sql: string): void {
  if (!inTransaction && !/data_version/i.test(sql)) {
    calls += 1
    writeFileSync(file, String(calls))
  }
  if (/^\s*begin/i.test(sql)) inTransaction = true
  if (/^\s*(commit|rollback|end)/i.test(sql)) inTransaction = false
}

type Call = (...args: unknown[]) => unknown

function watch(prototype: object, name: string, sqlOf: (self: unknown, args: unknown[]) => string): void {
  const methods = prototype as Record<string, Call>
  const original = methods[name] as Call
  methods[name] = function counted(this: unknown, ...args: unknown[]): unknown {
    const result = original.apply(this, args)
    count(sqlOf(this, args))
    return result
  }
}

watch(DatabaseSync.prototype, 'exec', (_, args) => String(args[0]))
for (const name of ['get', 'all', 'run', 'iterate']) {
  watch(StatementSync.prototype, name, (statement) => (statement as StatementSync).sourceSQL)
}
