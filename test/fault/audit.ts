// The witness of ownership, as it is asked: what every fence and every fenced write was, from the tables of audit.sql.
import { loadQueries } from '../../src/sql.ts'
import type { PostgresServer } from '../servers/postgres.ts'

const queries = loadQueries(new URL('./audit.sql', import.meta.url))

export interface OwnershipVerdict {
  raises: number
  /** Raises that were not above the one before: two owners of one epoch, or an epoch that came back. */
  raisesBack: number
  /** Claimed partitions, over all fenced writes, whose fence was the claim's; and of those, in which rows were written. */
  accepted: number
  wrote: number
  /** Claimed partitions whose fence was another's by then. */
  refused: number
  /** Those of them in which rows were written all the same. */
  staleWrites: number
  /** Accepted before the claim's own raise, or after another's. */
  outOfTime: number
  /** Rows written in partitions that were not claimed. */
  strays: number
}

/** The end of a member's ownership, by whatever. */
export interface Departure {
  member: string
  at: number
  from: 'then' | 'last write'
}

export class Audit {
  readonly #server: PostgresServer

  private constructor(server: PostgresServer) {
    this.#server = server
  }

  /** Writes down everything from here on; the product's schema must be there. */
  static async install(server: PostgresServer): Promise<Audit> {
    await server.run(queries.get('install') ?? '')
    return new Audit(server)
  }

  async verdict(): Promise<OwnershipVerdict> {
    const [row = {}] = await this.#server.run(queries.get('verdict') ?? '')
    return {
      raises: Number(row['raises']),
      raisesBack: Number(row['raises_back']),
      accepted: Number(row['accepted']),
      wrote: Number(row['wrote']),
      refused: Number(row['refused']),
      staleWrites: Number(row['stale_writes']),
      outOfTime: Number(row['out_of_time']),
      strays: Number(row['strays']),
    }
  }

  /**
   * Of every partition that the member held at that time: how long from then, or from its own last write after it, until
   * the first write of the next owner; Infinity: never.
   */
  async takenOver({ member, at, from }: Departure): Promise<number[]> {
    const values = [member, at, from === 'last write']
    const rows = await this.#server.run(queries.get('taken_over') ?? '', values)
    return rows.map((row) => (row['took_ms'] === null ? Infinity : Number(row['took_ms'])))
  }
}

/** How many times two owners held one partition, or a stale write was accepted. */
export function breaches({ raisesBack, staleWrites, outOfTime, strays }: OwnershipVerdict): number {
  return raisesBack + staleWrites + outOfTime + strays
}

export function describeOwnership(verdict: OwnershipVerdict): string {
  const { raises, accepted, wrote, refused, ...wrong } = verdict
  const counts = `${raises} raises, ${accepted} claims of partitions accepted (${wrote} wrote), ${refused} refused`
  return breaches(verdict) === 0 ? counts : `${counts}, BREACHES ${JSON.stringify(wrong)}`
}
