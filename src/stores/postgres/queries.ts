// The named queries of this store, for one schema. They are written for the schema `headrace`, and every name in them is
// qualified, so that no search path matters.
import { readFileSync, readdirSync } from 'node:fs'
import { assert } from '../../errors.ts'
import { loadQueries } from '../../sql.ts'

const FOLDER = new URL('./', import.meta.url)
const MIGRATIONS = new URL('./migrations/', import.meta.url)

export class Queries {
  readonly schema: string
  readonly #queries = new Map<string, string>()

  constructor(schema: string) {
    this.schema = schema
    for (const file of sqlFiles(FOLDER)) {
      for (const [name, text] of loadQueries(new URL(file, FOLDER))) {
        assert(!this.#queries.has(name), `the query ${name} stands in two files`)
        this.#queries.set(name, this.#qualify(text))
      }
    }
    for (const [name, text] of this.#queries) this.#queries.set(name, this.#whole(text))
  }

  /** A line that names a part stands for its text. */
  #whole(text: string): string {
    return text.replaceAll(/^ *:([a-z_]+)$/gm, (_, part: string) => this.#whole(this.text(part)))
  }

  text(name: string): string {
    const text = this.#queries.get(name)
    assert(text !== undefined, `there is no query ${name}`)
    return text
  }

  /** The migrations, the first one first. */
  migrations(): string[] {
    return sqlFiles(MIGRATIONS).map((file) => this.#qualify(readFileSync(new URL(file, MIGRATIONS), 'utf8')))
  }

  /** `headrace.` before a name, or `:schema` where the schema itself is named. */
  #qualify(text: string): string {
    const schema = `"${this.schema}"`
    return text.replaceAll(/\bheadrace\./g, `${schema}.`).replaceAll(':schema', schema)
  }
}

/** The number of the newest migration in this package. */
export function latestVersion(): number {
  return sqlFiles(MIGRATIONS).length
}

function sqlFiles(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
}
