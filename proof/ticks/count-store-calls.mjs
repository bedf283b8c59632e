// Loaded into a server by --import: counts what it asks of SQLite, from beneath the product's own telemetry. A
// transaction is one call, and so is a statement outside one; PRAGMA data_version is none. The count goes to
// the file that COUNT_FILE names. Plain JavaScript: what strips types would count in the memory of the server.
import { writeFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'

const file = process.env['COUNT_FILE'] ?? ''
let calls = 0
let inTransaction = false

/** Counts a call that was made, and follows where transactions begin and end. */
function count(sql) {
  if (!inTransaction && !/data_version/i.test(sql)) {
    calls += 1
    writeFileSync(file, String(calls))
  }
  if (/^\s*begin/i.test(sql)) inTransaction = true
  if (/^\s*(commit|rollback|end)/i.test(sql)) inTransaction = false
}

function watch(prototype, name, sqlOf) {
  const original = prototype[name]
  prototype[name] = function counted(...args) {
    const result = original.apply(this, args)
    count(sqlOf(this, args))
    return result
  }
}

watch(DatabaseSync.prototype, 'exec', (_, args) => String(args[0]))
for (const name of ['get', 'all', 'run', 'iterate']) {
  watch(StatementSync.prototype, name, (statement) => statement.sourceSQL)
}
