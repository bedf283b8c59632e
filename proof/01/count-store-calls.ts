// Loaded into a server by --import: counts what it asks of SQLite, from beneath the product's own telemetry. A
// transaction is one call, and so is a statement outside one; PRAGMA data_version is none. The count goes to
// the file that COUNT_FILE names.
import { writeFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'

const file = process.env['COUNT_FILE'] ?? ''
let calls = 0
let inTransaction = false

function count(sql: string): void {
  if (inTransaction || /data_version/i.test(sql)) return
  calls += 1
  writeFileSync(file, String(calls))
}

type Call = (...args: unknown[]) => unknown
const database = DatabaseSync.prototype as unknown as Record<'exec', Call>
const { exec } = database
database.exec = function counted(this: DatabaseSync, ...args: unknown[]): unknown {
  const sql = String(args[0])
  const result = exec.apply(this, args)
  count(sql)
  if (/^\s*begin/i.test(sql)) inTransaction = true
  if (/^\s*(commit|rollback|end)/i.test(sql)) inTransaction = false
  return result
}

const statement = StatementSync.prototype as unknown as Record<string, Call>
for (const name of ['get', 'all', 'run', 'iterate']) {
  const original = statement[name] as Call
  statement[name] = function counted(this: StatementSync, ...args: unknown[]): unknown {
    count(this.sourceSQL)
    return original.apply(this, args)
  }
}
