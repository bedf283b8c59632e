// The entries of pools: each call is one statement, but for a reschedule, which is a short transaction.
import { type Claim, poolResource } from '../../fence.ts'
import type { Entry } from '../../pool/entry.ts'
import type { PutAnswer } from '../../pool/merge.ts'
import { reschedule } from '../../pool/reschedule.ts'
import type { Settlement } from '../../pool/settle.ts'
import type {
  CancelAnswer,
  Entries,
  Mark,
  MarkAnswer,
  PoolSettings,
  PutRequest,
  PutResponse,
  Reschedule,
  RescheduleAnswer,
  SettleAnswer,
  Taken,
  TakeRequest,
} from '../../pool/store.ts'
import type { Hint, StoreContext } from '../../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Call, Connections, Tx } from './connections.ts'
import { claimColumns } from './fences.ts'
import type { DueWatermarks } from './due-watermarks.ts'
import { type KnownPool, OTHER, type Pools } from './pools.ts'
import { splitRounds } from './put-batch.ts'
import { Putter, answered, putRounds } from './putter.ts'
import { cancelAll } from './payloads.ts'
import { KEEP_MS, type Requests } from './requests.ts'
import { slotColumn, toEntry } from './rows.ts'
import { PostgresSettles } from './settles.ts'
import { PostgresTakes } from './takes.ts'

export interface PostgresPoolParts extends Pick<StoreContext, 'faults' | 'clock'> {
  connections: Connections
  pools: Pools
  requests: Requests
  watermarks: DueWatermarks
  hint(hint: Hint): void
}

/** A repeat writes the same. */
const MARK: Call = { operation: 'commit', timeoutMs: 1000, again: 'undone' }

export class PostgresEntries implements Entries {
  readonly #parts: PostgresPoolParts
  readonly #putter: Putter
  readonly #takes: PostgresTakes
  readonly #settles: PostgresSettles

  constructor(parts: PostgresPoolParts) {
    this.#parts = parts
    this.#putter = new Putter(parts.connections, parts.requests)
    this.#takes = new PostgresTakes(parts)
    this.#settles = new PostgresSettles(parts.connections)
  }

  open(settings: PoolSettings): Promise<void> {
    return this.#parts.pools.open(settings)
  }

  async put(name: string, requests: PutRequest[]): Promise<PutResponse[]> {
    this.#parts.faults.at('put.before-commit')
    const responses = await this.#putter.put(this.#parts.pools.of(name), requests)
    this.#parts.faults.at('put.after-commit')
    this.#announce(
      name,
      responses.flatMap((response) =>
        response.kind === 'answered' && !response.replayed ? response.answers : [],
      ),
    )
    return responses
  }

  async cancel(name: string, { key, slot }: { key: string; slot?: number | null }): Promise<CancelAnswer> {
    const column = slot === undefined ? null : slotColumn(slot)
    const pool = this.#parts.pools.of(name)
    const values = [pool.id, key, column]
    const { connections, faults } = this.#parts
    faults.at('cancel.before-commit')
    const [row] =
      pool.payloads === 'all'
        ? await connections.transaction(OTHER, (tx) => cancelAll(tx, values))
        : await connections.query('cancel', values, OTHER)
    faults.at('cancel.after-commit')
    return { cancelled: row?.['cancelled'] as number, due: row?.['due'] as number }
  }

  async reschedule(name: string, change: Reschedule): Promise<RescheduleAnswer> {
    const pool = this.#parts.pools.of(name)
    const attempt = this.#parts.requests.next()
    const answer = await this.#parts.connections
      .transaction(OTHER, (tx) => moveEntry(tx, pool, change, attempt))
      .catch(takenMeanwhile)
    if (answer.kind === 'moved') this.#announce(name, [answer.answer])
    return answer
  }

  take(name: string, request: TakeRequest): Promise<Taken> {
    return this.#takes.take(this.#parts.pools.of(name), request)
  }

  async settle(name: string, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    this.#parts.faults.at('settle.before-commit')
    const answers = await this.#settles.settle(this.#parts.pools.of(name), settlements, claim)
    this.#parts.faults.at('settle.after-commit')
    return answers
  }

  async mark(name: string, marks: Mark[], claim: Claim): Promise<MarkAnswer[]> {
    this.#parts.faults.at('mark.before-commit')
    const rows = await this.#parts.connections.query(
      'mark',
      [
        this.#parts.pools.of(name).id,
        ...claimColumns(poolResource(name), claim),
        textArray(marks.map(({ key }) => key)),
        numberArray(marks.map(({ slot }) => slotColumn(slot))),
        numberArray(marks.map(({ turn }) => turn)),
        numberArray(marks.map(({ crashes }) => crashes)),
      ],
      MARK,
    )
    this.#parts.faults.at('mark.after-commit')
    return rows.map((row) => ({
      result: row['result'] as MarkAnswer['result'],
      nextDueAt: row['next_due_at'] as number | null,
    }))
  }

  /** One hint for all puts of a call, with the earliest due time. */
  #announce(pool: string, answers: readonly PutAnswer[]): void {
    let first = Infinity
    for (const { result, dueAt } of answers) if (result !== 'kept' && dueAt < first) first = dueAt
    if (first < Infinity) this.#parts.hint({ kind: 'put', pool, dueAt: first })
  }
}

/** Moves one entry under the locks of both slots, by the pure rule. */
async function moveEntry(
  tx: Tx,
  pool: KnownPool,
  change: Reschedule,
  attempt: string,
): Promise<RescheduleAnswer> {
  const { key, at } = change
  const from = slotColumn(change.slot)
  const to = slotColumn(pool.mode === 'each' ? at : null)
  const rows = await tx.query('lock_entries', [pool.id, key, numberArray([from, to])])
  const [clock] = await tx.query('read_clock', [pool.id])
  const now = clock?.['now'] as number
  const found = rows.find((row) => row['slot'] === from && row['state'] !== 'fired')
  const target = rows.find((row) => row['slot'] === to)
  const until = target?.['state'] === 'fired' ? (target['until'] as number) : 0
  const fired = (clock?.['remember_ms'] as number) > 0 && until > now
  const taken = from !== to && target?.['state'] === 'live'
  const existing: Entry | undefined = found === undefined ? undefined : toEntry(found)
  // The server gives the turns.
  const rests = pool.mode === 'one' && (clock?.['throttle_ms'] as number) > 0
  const restsUntil = rests ? ((found?.['until'] as number | null | undefined) ?? 0) : 0
  const context = { mode: pool.mode, now, fired, taken, restsUntil, newTurn: () => 0 }
  const decided = reschedule(existing, at, context)
  if (decided.kind === 'moved') {
    await tx.query('move_next', [pool.id, key, from, decided.answer.dueAt])
    return { kind: 'moved', answer: decided.answer }
  }
  if (decided.kind !== 'anew') return decided
  // In mode one the put itself takes the place of the dead entry, and knows until when its key rests.
  if (pool.mode === 'each') await tx.query('remove_entry', [pool.id, key, from])
  const rounds = splitRounds([decided.put], pool.mode)
  const batch = { id: attempt, fingerprint: '', attempt, keepMs: KEEP_MS }
  const noted = await putRounds(tx, pool, batch, rounds)
  const answer = answered(rounds, noted ?? [], false).answers[0] as PutAnswer
  // A slot that was free has no row to lock: a put that took it meanwhile undoes the move.
  if (answer.result === 'kept') throw new SlotTaken(answer.tally === 0 ? 'due' : 'exists')
  return { kind: 'moved', answer }
}

/** Thrown so that the transaction of a move is rolled back. */
class SlotTaken extends Error {
  readonly kind: 'due' | 'exists'

  constructor(kind: 'due' | 'exists') {
    super('the slot was taken meanwhile')
    this.kind = kind
  }
}

function takenMeanwhile(error: unknown): RescheduleAnswer {
  if (error instanceof SlotTaken) return { kind: error.kind }
  throw error
}
