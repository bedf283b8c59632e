// SQL stands in .sql files beside its adapter, where it can be read, explained and formatted as SQL.
import { isSource, lineOf, type Rule } from '../rule.ts'
import { scan } from '../scan.ts'

const statements = [
  /^select\b[\s\S]*\bfrom\b/i,
  /^select\s+(?:\d|\*|[\w.]+\s*\()/i,
  /^(?:insert|replace)\s+(?:or\s+\w+\s+)?into\b/i,
  /^update\s+(?:or\s+\w+\s+)?\S+\s+set\b/i,
  /^delete\s+from\b/i,
  /^with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\b/i,
  /^(?:create|alter|drop)\s+(?:unique\s+|temp\w*\s+|virtual\s+)?(?:table|index|view|trigger|schema|function)\b/i,
  /^(?:truncate|vacuum|analyze|merge\s+into)\s+\w/i,
]

/** Words that steer a connection and hold no query; capitals tell them from English. */
const control = /^(?:PRAGMA\s|BEGIN\b|COMMIT\b|ROLLBACK\b|SAVEPOINT\s)/
const controlAllowed = /^src\/stores\/(?:sqlite|postgres)\//

const sqlInFiles: Rule = {
  title: 'no TypeScript in src holds SQL',
  appliesTo: isSource,
  check({ path, text }) {
    return scan(text)
      .literals.filter(({ value }) => {
        const start = value.trimStart()
        if (control.test(start)) return !controlAllowed.test(path)
        return statements.some((pattern) => pattern.test(start))
      })
      .map(({ index }) => `line ${lineOf(text, index)}: SQL; move it to the .sql file of this adapter`)
  },
  bad: [
    { path: 'src/stores/sqlite/pool.ts', text: "db.prepare('select key from entries')" },
    { path: 'src/stores/sqlite/pool.ts', text: 'db.exec(`\n  insert into entries (key) values (${key})`)' },
    { path: 'src/stores/sqlite/log.ts', text: 'db.exec("UPDATE heads SET head = 1")' },
    { path: 'src/stores/sqlite/log.ts', text: "const q = 'with due as (values (1)) delete'" },
    { path: 'src/stores/sqlite/log.ts', text: "db.exec('create unique index a on b (c)')" },
    { path: 'src/pool/taker.ts', text: "db.exec('BEGIN IMMEDIATE')" },
  ],
  good: [
    {
      path: 'src/stores/sqlite/database.ts',
      text: "db.exec('BEGIN IMMEDIATE'); db.exec('PRAGMA data_version')",
    },
    { path: 'src/errors.ts', text: "fail('Select another port, or update the token with --token.')" },
    { path: 'src/errors.ts', text: "fail('create the table of topics first')" },
    { path: 'src/telemetry.ts', text: "emit('commit')" },
  ],
}

const plainParameters: Rule = {
  title: 'no query numbers its parameters, which Node before 22.20 does not bind',
  appliesTo: (path) => path.startsWith('src/stores/sqlite/') && path.endsWith('.sql'),
  check({ text }) {
    return [...text.matchAll(/\?\d+/g)].map(({ index, 0: found }) => `line ${lineOf(text, index)}: ${found}`)
  },
  bad: [{ path: 'src/stores/sqlite/pool.sql', text: 'select 1 where ?1 > 2 or ?1 < 1' }],
  good: [{ path: 'src/stores/sqlite/pool.sql', text: 'select 1 where ? > 2 or ? < 1' }],
}

export const sqlRules = [sqlInFiles, plainParameters]
