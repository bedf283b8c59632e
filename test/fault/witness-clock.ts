// The clock of a PostgreSQL server, as a process on the same machine knows it: asked again and again, and between two
// answers counted on by the process's own clock. How far it may be off is known from the fastest answer.
import { Client } from 'pg'

interface Sample {
  /** The server's clock less the process's: this, or up to `precisionMs` more or less. */
  offsetMs: number
  precisionMs: number
}

const ASK_EVERY_MS = 500
/** The best of so many counts: clocks drift apart, if slowly. */
const KEPT = 10

export class WitnessClock {
  readonly #client: Client
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | null = null

  private constructor(client: Client) {
    this.#client = client
  }

  static async open(address: string): Promise<WitnessClock> {
    const client = new Client({ connectionString: address })
    await client.connect()
    const clock = new WitnessClock(client)
    for (let nth = 0; nth < KEPT; nth += 1) await clock.#ask()
    const askAgain = (): void => void clock.#ask().catch(() => undefined)
    clock.#timer = setInterval(askAgain, ASK_EVERY_MS).unref()
    return clock
  }

  /** The server's time, in milliseconds since 1970 and parts of one. */
  now(): number {
    return performance.now() + this.#best.offsetMs
  }

  /** How far off `now()` is at most. */
  get precisionMs(): number {
    return this.#best.precisionMs
  }

  async close(): Promise<void> {
    clearInterval(this.#timer ?? undefined)
    await this.#client.end()
  }

  get #best(): Sample {
    return this.#samples.reduce((best, next) => (next.precisionMs < best.precisionMs ? next : best))
  }

  /** The server read its clock at some moment between the question and the answer. */
  async #ask(): Promise<void> {
    const asked = performance.now()
    const { rows } = await this.#client.query(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
    )
    const answered = performance.now()
    const now = Number(rows[0].now)
    this.#samples.push({ offsetMs: now - (asked + answered) / 2, precisionMs: (answered - asked) / 2 })
    if (this.#samples.length > KEPT) this.#samples.shift()
  }
}
