// Puts: requests become batches, each of them one statement, or a few of one transaction when an entry stands in it twice. Every batch has an id that is inserted first, so that a repeat after a cut connection puts nothing twice.
import { HeadraceError } from '../../errors.ts'
import type { Put, PutAnswer } from '../../pool/merge.ts'
import type { PutRequest, PutResponse } from '../../pool/store.ts'
import type { Call, Connections, Row, Tx } from './connections.ts'
import { PayloadsFull, keepPayloads } from './payloads.ts'
import { type Noted, type PlacedPut, type PutPool, columnsOf, readAnswers, splitRounds } from './put-batch.ts'
import { type Claimed, foldRepeats, keepRepeats } from './repeats.ts'
import { KEEP_MS, type Requests } from './requests.ts'

export const PUT: Call = { operation: 'commit', timeoutMs: 5000, again: 'exact', hasOnePlan: true }

/** What is put together under one id. By its attempt a process knows its own repeat of a request from that of another. */
interface Batch extends Claimed {
  requests: PutRequest[]
  puts: Put[]
}

type Done =
  | { kind: 'answered'; answers: PutAnswer[]; replayed: boolean }
  | { kind: 'mismatch' }
  | { kind: 'forgotten' }
  | (PutResponse & { kind: 'refused' })

export class Putter {
  readonly #connections: Connections
  readonly #requests: Requests

  constructor(connections: Connections, requests: Requests) {
    this.#connections = connections
    this.#requests = requests
  }

  async put(pool: PutPool, requests: readonly PutRequest[]): Promise<PutResponse[]> {
    const responses: PutResponse[] = []
    for (const batch of this.#batches(pool, requests)) {
      const done = await this.#putBatch(pool, batch)
      responses.push(...respond(batch, done))
    }
    return responses
  }

  /** Requests without an id go together; one that has an id, or may be refused, goes alone. */
  #batches(pool: PutPool, requests: readonly PutRequest[]): Batch[] {
    if (pool.payloads === 'all') return requests.map((request) => this.#batchOf(request))
    const batches: Batch[] = []
    for (const request of requests) {
      const last = batches.at(-1)
      if (request.repeat === null && last !== undefined && last.requests[0]?.repeat === null) {
        last.requests.push(request)
        for (const put of request.puts) last.puts.push(put)
      } else batches.push(this.#batchOf(request))
    }
    return batches
  }

  #batchOf(request: PutRequest): Batch {
    const attempt = this.#requests.next()
    const { repeat } = request
    return {
      requests: [request],
      puts: [...request.puts],
      id: repeat === null ? attempt : `user/${repeat.id}`,
      fingerprint: repeat?.fingerprint ?? '',
      attempt,
      keepMs: repeat?.keepMs ?? KEEP_MS,
    }
  }

  async #putBatch(pool: PutPool, batch: Batch): Promise<Done & PutResponse> {
    if (batch.puts.length === 0 && batch.requests[0]?.repeat === null)
      return { kind: 'answered', answers: [], replayed: false }
    const rounds = splitRounds(batch.puts, pool.mode)
    for (let tries = 0; tries < 5; tries += 1) {
      const noted = await this.#write(pool, batch, rounds).catch(refusalOf)
      if (noted !== null && 'kind' in noted) return noted
      const done = noted === null ? await this.#recall(pool, batch, rounds) : answered(rounds, noted, false)
      if (done.kind !== 'forgotten') return done
    }
    throw new HeadraceError('store_busy', `the request ${batch.id} is forgotten as fast as it is made`)
  }

  /** Null: the id is known. */
  #write(pool: PutPool, batch: Batch, rounds: PlacedPut[][]): Promise<Row[] | null> {
    const [first = []] = rounds
    if (rounds.length === 1 && pool.payloads === 'latest') {
      return this.#connections
        .query('put', parametersOf(pool, batch, { placed: first, round: 0 }), PUT)
        .then(orNull)
    }
    return this.#connections.transaction(PUT, (tx) => putRounds(tx, pool, batch, rounds))
  }

  /** What the request with this id was answered. */
  async #recall(pool: PutPool, batch: Batch, rounds: PlacedPut[][]): Promise<Done> {
    const rows = await this.#connections.query('kept_answers', [pool.id, batch.id], {
      operation: 'read',
      timeoutMs: 5000,
      again: 'exact',
    })
    const [first] = rows
    if (first === undefined) return { kind: 'forgotten' }
    const isOurs = first['attempt'] === batch.attempt
    if (!isOurs && first['fingerprint'] !== batch.fingerprint) return { kind: 'mismatch' }
    return answered(rounds, rows, !isOurs)
  }
}

/** Puts the first of each entry, and then what repeats them, in a transaction; null: the id is known, and nothing was put. */
export async function putRounds(
  tx: Tx,
  pool: PutPool,
  batch: Claimed,
  [firsts = [], repeats = []]: PlacedPut[][],
): Promise<Row[] | null> {
  const [row] = await tx.query('put', parametersOf(pool, batch, { placed: firsts, round: 0 }))
  if (row === undefined) return null
  const noted = [row as unknown as Noted]
  if (repeats.length > 0) noted.push(...(await putRepeats(tx, pool, batch, repeats)))
  if (pool.payloads === 'all') {
    await keepPayloads(
      tx,
      pool,
      noted.map(({ notes }, round) => ({ placed: round === 0 ? firsts : repeats, notes })),
    )
  }
  return noted as unknown as Row[]
}

async function putRepeats(
  tx: Tx,
  pool: PutPool,
  batch: Claimed,
  placed: readonly PlacedPut[],
): Promise<Noted[]> {
  if (pool.mode === 'one') return [await foldRepeats(tx, pool, batch, placed)]
  return keepRepeats(tx, pool, batch, {
    placed,
    putFirsts: async (firsts) => {
      const parameters = parametersOf(pool, batch, { placed: firsts, round: 1, notesAll: true })
      return (await tx.query('put', parameters))[0] as Row
    },
  })
}

/** A transaction that was undone because an entry held too much is a refused request. */
function refusalOf(error: unknown): PutResponse & { kind: 'refused' } {
  if (error instanceof PayloadsFull) return { kind: 'refused', ...error.refusal }
  throw error
}

function orNull(rows: Row[]): Row[] | null {
  return rows.length === 0 ? null : rows
}

function parametersOf(
  pool: PutPool,
  { id, fingerprint, attempt, keepMs }: Claimed,
  { placed, round, ...asked }: { placed: PlacedPut[]; round: number; notesAll?: true },
): unknown[] {
  const notesAll = asked.notesAll ?? (id !== attempt || pool.payloads === 'all')
  return [pool.id, id, round, fingerprint, attempt, keepMs, ...columnsOf(pool, placed), notesAll]
}

/** The answers of all rounds; a repeat is answered by what was noted alone. */
export function answered(
  rounds: PlacedPut[][],
  noted: Row[],
  replayed: boolean,
): Done & { kind: 'answered' } {
  const answers: PutAnswer[] = []
  for (const [round, row] of noted.entries()) {
    const placed = replayed ? [] : (rounds[round] ?? [])
    readAnswers(answers, placed, row as unknown as Noted)
  }
  return { kind: 'answered', answers, replayed }
}

/** Deals the answers of a batch out to its requests. */
function respond(batch: Batch, done: Done & PutResponse): PutResponse[] {
  // A repeat may hold other puts than the first; it stands alone, and gets all of the first one's answers.
  if (done.kind !== 'answered' || done.replayed) return [done]
  let taken = 0
  return batch.requests.map(({ puts }) => {
    const answers = done.answers.slice(taken, (taken += puts.length))
    return { kind: 'answered', answers, replayed: done.replayed }
  })
}
