// Named queries out of a .sql file: each begins with a line `-- name: the_name`.
import { readFileSync } from 'node:fs'
import { assert } from './errors.ts'

export function loadQueries(file: URL): ReadonlyMap<string, string> {
  const queries = new Map<string, string>()
  const [, ...parts] = readFileSync(file, 'utf8').split(/^-- name: /m)
  for (const part of parts) {
    const end = part.indexOf('\n')
    const name = part.slice(0, end).trim()
    assert(!queries.has(name), `the query ${name} stands twice in ${file.pathname}`)
    queries.set(name, part.slice(end + 1).trim())
  }
  return queries
}
