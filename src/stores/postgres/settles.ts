// Settles: of runs that are done and leave nothing by the places where they were met, of all others by their keys.
import { type Claim, poolResource } from '../../fence.ts'
import type { Settlement } from '../../pool/settle.ts'
import type { SettleAnswer } from '../../pool/store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import { Countdown } from './countdown.ts'
import { wasLocked, wasLockedIn } from './failure.ts'
import { claimColumns } from './fences.ts'
import { settleAll } from './payloads.ts'
import type { KnownPool } from './pools.ts'
import { SETTLED, settleAnswers, settlementColumns, splitRepeated } from './settlements.ts'

/** A repeat of a settle finds no turn. */
const BY_PLACE: Call = { operation: 'commit', timeoutMs: 1000, again: 'undone' }
const BY_KEY: Call = { ...BY_PLACE, hasOnePlan: true }

/** The most that are settled by their keys at once. */
const MOST_BY_KEY = 1000
/** How many settles of a pool do not look at places after one that found most of them empty. */
const BY_KEY_ALONE = 10
/** How many pass over locked entries after one that met some. */
const PASSING_OVER = 1000

interface Chosen {
  chosen: readonly number[]
  others: readonly number[]
}

const NOTHING: Chosen = { chosen: [], others: [] }

export class PostgresSettles {
  readonly #connections: Connections
  readonly #byKeyAlone = new Countdown()
  readonly #passingOver = new Countdown()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async settle(pool: KnownPool, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    const answers = settlements.map((): SettleAnswer => SETTLED)
    const left = await this.#settleByPlace(pool, settlements, claim)
    for (const part of splitRepeated(settlements, left, MOST_BY_KEY)) {
      const chosen = part.map((nth) => settlements[nth] as Settlement)
      const settled = await this.#settleByKey(pool, chosen, claim)
      for (const [index, nth] of part.entries()) answers[nth] = settled[index] as SettleAnswer
    }
    return answers
  }

  /** Answers the numbers of those that are not settled. */
  async #settleByPlace(pool: KnownPool, settlements: Settlement[], claim: Claim): Promise<number[]> {
    const { chosen, others } = this.#byKeyAlone.counts(pool.id) ? NOTHING : choosePlaced(pool, settlements)
    if (chosen.length === 0) return [...settlements.keys()]
    const columns = chosen.map((nth) => settlements[nth] as Settlement)
    const values = [
      pool.id,
      ...claimColumns(poolResource(pool.name), claim),
      `{"${columns.map(({ place }) => place).join('","')}"}`,
      numberArray(columns.map(({ turn }) => turn)),
      numberArray(columns.map(({ seen }) => seen)),
    ]
    const [row] = await this.#removePlaced(pool, values)
    const left = ((row?.['nths'] ?? []) as number[]).map((nth) => chosen[nth - 1] as number)
    if (left.length * 2 > chosen.length) this.#byKeyAlone.begin(pool.id, BY_KEY_ALONE)
    return [...others, ...left]
  }

  /** Waits for no locked entry longer than a millisecond: where one is met they are passed over. */
  async #removePlaced({ id }: KnownPool, values: readonly unknown[]): Promise<Row[]> {
    if (!this.#passingOver.counts(id)) {
      try {
        return await this.#connections.query('settle_done', values, BY_PLACE)
      } catch (error) {
        // A locked fence is waited for by the other statement just as long.
        if (!wasLocked(error) || wasLockedIn(error, 'fence')) throw error
        this.#passingOver.begin(id, PASSING_OVER)
      }
    }
    return this.#connections.query('settle_free', values, BY_PLACE)
  }

  async #settleByKey(pool: KnownPool, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    const claimed = claimColumns(poolResource(pool.name), claim)
    const values = [pool.id, ...claimed, ...settlementColumns(settlements)]
    const rows =
      pool.payloads === 'all'
        ? await this.#connections.transaction(BY_KEY, (tx) => settleAll(tx, pool, { values, settlements }))
        : await this.#connections.query('settle', values, BY_KEY)
    return settleAnswers(rows[0], settlements.length)
  }
}

/** Those that may be settled by their places, and the others, by their numbers; few are left with the others. */
function choosePlaced({ payloads }: KnownPool, settlements: readonly Settlement[]): Chosen {
  const chosen: number[] = []
  const others: number[] = []
  const turns = new Set<number>()
  settlements.forEach(({ outcome, place, turn }, nth) => {
    // One that stands twice is settled once.
    const isPlaced = place !== undefined && outcome.kind === 'done' && !turns.has(turn)
    if (isPlaced) turns.add(turn)
    ;(isPlaced ? chosen : others).push(nth)
  })
  return payloads === 'all' || chosen.length < others.length ? NOTHING : { chosen, others }
}
