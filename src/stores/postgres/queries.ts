// The named queries of this store, for one schema. They are written for the schema `headrace`, and every name in them is
// qualified, so that no search path matters.
import { readFileSync, readdirSync } from 'node:fs'
import { assert } from '../../errors.ts'
import { loadQueries } from '../../sql.ts'
import { codeOf } from './codes.ts'

const FOLDER = new URL('./', import.meta.url)
const MIGRATIONS = new URL('./migrations/', import.meta.url)

/** Those that read by the number of a pool or topic: they answer only in the life that they name. */
const READS =
  'take take_even take_rows get list_key list_prefix list_group list_live list_failing list_dead count deaths ' +
  'page_of_deaths payloads_of_deaths due_page read_clock read_control read_progress read next_dues kept_answers find_topic'

export class Queries {
  readonly schema: string
  /** The life of the server that statements name. */
  life = ''
  readonly #queries = new Map<string, string>()

  constructor(schema: string) {
    this.schema = schema
    for (const file of sqlFiles(FOLDER)) {
      for (const [name, text] of loadQueries(new URL(file, FOLDER))) {
        assert(!this.#queries.has(name), `the query ${name} stands in two files`)
        this.#queries.set(name, withCodes(this.#qualify(text)))
      }
    }
    for (const [name, text] of this.#queries) this.#queries.set(name, this.#whole(text))
    const guard = `"${schema}".in_time(`
    for (const [name, text] of this.#queries)
      this.#queries.set(name, text.replaceAll(guard, `${guard}':life', `))
    const frame = this.#template('if_in_life')
    for (const name of READS.split(' ')) {
      const text = this.#template(name)
      this.#queries.set(
        name,
        frame.replace(':asked', () => text),
      )
    }
  }

  /** A line that names a part stands for its text; what is in brackets is the lock that the part takes. */
  #whole(text: string): string {
    return text.replaceAll(/^ *:([a-z_]+)(?:\((.+)\))?$/gm, (_, part: string, lock?: string) =>
      this.#whole(lock === undefined ? this.#template(part) : this.#template(part).replace(':lock', lock)),
    )
  }

  text(name: string, life = this.life): string {
    return this.#template(name).replaceAll(':life', life)
  }

  #template(name: string): string {
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

/** `:group.name` stands for a number of codes.ts. */
function withCodes(text: string): string {
  return text.replaceAll(/(?<!:):([a-z]+)\.(\w+)/g, (_, group: string, name: string) => {
    const code = codeOf(group, name)
    assert(code !== undefined, `there is no code ${group}.${name}`)
    return String(code)
  })
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
