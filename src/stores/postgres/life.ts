// Which life of the server this opening of the store knows, and which generation of the store. Every statement that writes,
// or reads by a number, names its life; one of another life does nothing. Then the life is learned, or begun, here, and
// the numbers of pools and topics are read again before anything else is asked in it. [Y21] [Y22]
import type { Emitter } from '../../telemetry.ts'
import type { Call, Connections, Lives, Row } from './connections.ts'
import { isReadOnly } from './failure.ts'
import type { Queries } from './queries.ts'

/** What knows numbers that the server gave. */
export interface Numbered {
  /** Grows with each number that becomes known. */
  readonly count: number
  /** Reads the numbers in another life; what it answers puts them in force, and answers whether one of them changed. */
  renumber(ask: Ask): Promise<() => boolean>
}

/** A query of the life that begins. */
export type Ask = (name: string, values: readonly unknown[]) => Promise<Row[]>

export interface LifeParts {
  connections: Connections
  queries: Queries
  telemetry: Emitter
  numbered: readonly Numbered[]
  /** Another life has begun: what is known of times counts no more. */
  renewed(): void
}

const RENEW: Call = { operation: 'commit', timeoutMs: 2000, again: 'exact' }

export class Life implements Lives {
  readonly #parts: LifeParts
  #generation: string
  #renewing: Promise<void> | null = null
  /** Counts the times that a number of a pool or topic has changed. */
  #numbering = 0

  constructor(parts: LifeParts, generation: string) {
    this.#parts = parts
    this.#generation = generation
  }

  /** Changes exactly when the store went back. */
  get generation(): string {
    return this.#generation
  }

  /** The current life. */
  get name(): string {
    return this.#parts.queries.life
  }

  /** Changes when numbers of pools or topics did. */
  get numbering(): number {
    return this.#numbering
  }

  /** The life that a statement named is not the current one: resolves when the current one is known. */
  renew(life: string): Promise<void> {
    return life === this.#parts.queries.life ? this.#renew(null) : Promise.resolve()
  }

  /** What this process was answered is not in the store: another generation begins, if nobody has begun one. */
  async doubt(generation: string): Promise<void> {
    // One that is under way may doubt nothing.
    while (this.#renewing !== null && generation === this.#generation) await this.#renewing
    if (generation === this.#generation) await this.#renew(generation)
  }

  #renew(doubted: string | null): Promise<void> {
    this.#renewing ??= this.#learn(doubted).finally(() => (this.#renewing = null))
    return this.#renewing
  }

  async #learn(doubted: string | null): Promise<void> {
    const { connections, queries, telemetry, numbered } = this.#parts
    const [row = {}] = await connections.queryIn(queries.life, 'renew', [doubted], RENEW)
    const life = row['life'] as string
    const generation = row['generation'] as string
    const ask: Ask = (name, values) => connections.queryIn(life, name, values, RENEW)
    let inForce: (() => boolean)[]
    let counts: number[]
    do {
      counts = numbered.map(({ count }) => count)
      inForce = await Promise.all(numbered.map((each) => each.renumber(ask)))
      // What was opened meanwhile has a number of the life before.
    } while (numbered.some(({ count }, nth) => count !== counts[nth]))
    // In one step: no statement names this life with a number of another.
    queries.life = life
    if (inForce.map((put) => put()).includes(true)) this.#numbering += 1
    if (generation !== this.#generation)
      telemetry.emit('store.went-back', { from: this.#generation, to: generation })
    this.#generation = generation
    this.#parts.renewed()
  }
}

/** The life and the generation that a newly opened store is in. A server that only reads is left in the life it has. */
export async function findLife(
  connections: Connections,
  queries: Queries,
): Promise<{ life: string; generation: string }> {
  const [found = {}] = await connections.queryIn('', 'find_life', [], RENEW)
  const rows =
    found['is_current'] === true
      ? [found]
      : await connections.queryIn('', 'renew', [null], RENEW).catch((error: unknown) => {
          if (isReadOnly(error)) return [found]
          throw error
        })
  queries.life = rows[0]?.['life'] as string
  return { life: queries.life, generation: rows[0]?.['generation'] as string }
}
