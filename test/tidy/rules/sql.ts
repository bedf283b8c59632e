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
    { path: 'src/stores/sqlite/entries.ts', text: "db.prepare('select key from entries')" },
    {
      path: 'src/stores/sqlite/entries.ts',
      text: 'db.exec(`\n  insert into entries (key) values (${key})`)',
    },
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

/** A step compared with, or chosen as, a number; a bit of a note; the lanes; the slot of an entry that has none. */
const bareCodes = [
  /\bstep\s*(?:=|<>|<|>|in)\s*\(?\s*\d/,
  /\bcase\s+[\w.]*step\s+when\s+\d/,
  /\bnote\s*[&|]\s*\d/,
  /^\s*(?:else|when\b.*\bthen)\s+[2-9]\s*$/,
  /generate_series\(0,\s*\d/,
  /\blane\s+between\s+0\s+and\s+\d/,
  /-?9007199254740991/,
]

const namedCodes: Rule = {
  title: 'no query holds a code that TypeScript shares: it names one of codes.ts',
  appliesTo: (path) => /^src\/stores\/postgres\/[^/]+\.sql$/.test(path),
  check({ text }) {
    return text.split('\n').flatMap((line, index) => {
      const isBare = !line.trimStart().startsWith('--') && bareCodes.some((code) => code.test(line))
      return isBare ? [`line ${index + 1}: a bare code; name it as :group.name, see codes.ts`] : []
    })
  },
  bad: [
    { path: 'src/stores/postgres/put.sql', text: 'case when step = 3 then excluded.turn else e.turn end,' },
    { path: 'src/stores/postgres/put.sql', text: 'when excluded.note & :note.rules = 16 and note & 7 > 0' },
    { path: 'src/stores/postgres/settle.sql', text: 'tally = case d.step when 1 then d.tally end,' },
    { path: 'src/stores/postgres/settle.sql', text: "  when f.outcome = 'cancel' then 5" },
    { path: 'src/stores/postgres/move.sql', text: 'cross join generate_series(0, 2) as l (lane)' },
    { path: 'src/stores/postgres/put.sql', text: 'where e.slot = -9007199254740991' },
  ],
  good: [
    { path: 'src/stores/postgres/put.sql', text: 'case when step = :put.replaced then 1 else e.tally end,' },
    { path: 'src/stores/postgres/put.sql', text: '-- step = 3: it replaced next' },
    { path: 'src/stores/postgres/put.sql', text: '  when step = :put.replacedAfter then 1' },
  ],
}

export const sqlRules = [sqlInFiles, plainParameters, namedCodes]
