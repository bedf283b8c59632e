// What is due: a read whose answer comes in columns, a row for each partition, or where payloads are long a row for each run.
// Of many runs an even share of each partition is read, and of few, or where they are not spread evenly, the first of all.
// Where much may have to be passed that is gone, it is read in pages: page-reader.ts.
import type { Clock } from '../../clock.ts'
import type { TakenRun } from '../../pool/entry.ts'
import type { Taken, TakeRequest } from '../../pool/store.ts'
import { numberArray } from './arrays.ts'
import { NO_SLOT } from './codes.ts'
import type { Call, Connections, Row } from './connections.ts'
import { Countdown } from './countdown.ts'
import type { DueWatermarks } from './due-watermarks.ts'
import { type Page, PageReader } from './page-reader.ts'
import { type KnownPool, READ } from './pools.ts'
import { SEPARATOR } from './put-batch.ts'
import { fromSlotColumn, laneColumn, toRun } from './rows.ts'

const TAKE: Call = { ...READ, hasOnePlan: true }
/** The longest payload that stands in a column: those of a partition are one text, and of a take no more than 240 MB. */
const LONGEST = 8192
/** How many takes of a pool that has longer ones read rows before columns are tried again. */
const TAKES_BY_ROW = 100
/** What is read of a partition beyond its share: more of one are seldom among the first of all. */
const SPREAD = 4
const LEAST_MORE = 8
/** The least share by which a take is even: of smaller ones too few would be the first of all. */
const LEAST_SHARE = 32
/** How much of a share is read, and how much of it at most, with what is due at the time of the last. */
const SURE = 0.75
const MOST = 1.5
/** The part of its limit that an even take answers at least, if that cut it. */
const FEWEST = 4
/** How many takes of a pool are not even after one that answered fewer. */
const TAKES_BY_DUE_TIME = 10

/** What few runs of a take have: turn, group, attempt, crashes, and whether its payload is too long. */
type Rare = readonly [number, string | null, number, number | null, boolean | null]

/** Runs a named query, in a transaction or not. */
type Query = (name: string, values: readonly unknown[]) => Promise<Row[]>

export interface PostgresTakesParts {
  connections: Connections
  clock: Clock
  watermarks: DueWatermarks
}

export class PostgresTakes {
  readonly #connections: Connections
  readonly #reader: PageReader
  /** How many takes of each pool are yet to read rows, and how many are yet not to be even. */
  readonly #byRow = new Countdown()
  readonly #byDueTime = new Countdown()

  constructor(parts: PostgresTakesParts) {
    this.#connections = parts.connections
    this.#reader = new PageReader(parts)
  }

  take(pool: KnownPool, request: TakeRequest): Promise<Taken> {
    const partitions =
      request.partitions ?? Array.from({ length: pool.partitions }, (_, partition) => partition)
    const { from, limit } = request
    const whole: Page = { froms: partitions.map(() => from), end: null }
    return this.#reader.read(
      { pool: pool.id, lane: laneColumn(request.lane), partitions, from, limit },
      {
        whole: () =>
          this.#read((name, values) => this.#connections.query(name, values, TAKE), pool, {
            ...request,
            ...whole,
            partitions,
          }),
        page: (page, boundMs) =>
          this.#connections.transaction(TAKE, async (tx) => {
            await tx.query('bound_page', [boundMs])
            return this.#read((name, values) => tx.query(name, values), pool, {
              ...request,
              ...page,
              partitions,
            })
          }),
      },
    )
  }

  async #read(
    query: Query,
    pool: KnownPool,
    {
      partitions,
      lane,
      froms,
      end,
      limit,
      mayCut = false,
    }: Omit<TakeRequest, 'partitions'> & Page & { partitions: readonly number[] },
  ): Promise<Taken> {
    const share = limit / Math.max(1, partitions.length)
    const each = Math.min(limit, Math.ceil(share + SPREAD * Math.sqrt(share)) + LEAST_MORE)
    const values = [pool.id, numberArray(partitions), laneColumn(lane), numberArray(froms), limit]
    const to = end === null ? null : end - 1
    if (pool.payloads === 'all') return rowsOf(query, [...values, each, true, to])
    if (this.#byRow.counts(pool.id)) return rowsOf(query, [...values, each, false, to])
    const isEven = mayCut && share >= LEAST_SHARE && !this.#byDueTime.counts(pool.id)
    return (
      (isEven ? await this.#even(query, pool, values, { share, limit, to }) : null) ??
      (await this.#first(query, pool, [...values, each], to)) ??
      rowsOf(query, [...values, each, false, to])
    )
  }

  /** Null: much of it is not among the first, or payloads are too long. */
  async #even(
    query: Query,
    { id }: KnownPool,
    values: readonly unknown[],
    { share, limit, to }: { share: number; limit: number; to: number | null },
  ): Promise<Taken | null> {
    const [least, most] = [Math.floor(SURE * share), Math.floor(MOST * share)]
    const asked = [...values, least, NO_SLOT, LONGEST, most, to]
    const rows = await this.#columns(query, 'take_even', id, asked)
    if (rows === null) return null
    const taken = cutTo(limit, takenOf(rows, evenCut(rows, { least, most })))
    if (taken.cutAt === undefined || taken.runs.length * FEWEST >= limit) return taken
    this.#byDueTime.begin(id, TAKES_BY_DUE_TIME)
    return null
  }

  /** Null: payloads are too long. */
  async #first(
    query: Query,
    { id }: KnownPool,
    values: readonly unknown[],
    to: number | null,
  ): Promise<Taken | null> {
    const rows = await this.#columns(query, 'take', id, [...values, NO_SLOT, LONGEST, to])
    return rows === null ? null : takenOf(rows)
  }

  async #columns(query: Query, name: string, id: number, values: readonly unknown[]): Promise<Row[] | null> {
    const rows = await query(name, values)
    if (!rows.some((row) => rareOf(row).some(([, , , , isLong]) => isLong === true))) return rows
    this.#byRow.begin(id, TAKES_BY_ROW)
    return null
  }
}

async function rowsOf(query: Query, values: readonly unknown[]): Promise<Taken> {
  const rows = await query('take_rows', values)
  return answerOf(rows, rows.filter((row) => row['key'] !== null).map(toRun))
}

/**
 * From when on more may be due in a partition; null: all that is due was read. Of one of which `least` were read, and not
 * `most`, all is there that is due at the time of its last.
 */
export function evenCut(
  rows: readonly Row[],
  { least, most }: { least: number; most: number },
): number | null {
  const cuts = rows.flatMap((row) => {
    const share = row['share'] as number | null
    if (share === null || share < least) return []
    const last = (row['due_ats'] as number[]).at(-1) as number
    return [share < most ? last + 1 : last]
  })
  return cuts.length === 0 ? null : Math.min(...cuts)
}

/** Each partition's are in due order; merged, so are all. Those that are due from `cutAt` on are left out. */
function takenOf(rows: readonly Row[], cutAt: number | null = null): Taken {
  const runs = rows.flatMap((row) => runsOf(row, cutAt ?? Infinity))
  const taken = answerOf(rows, runs)
  return cutAt === null ? taken : { ...taken, nextDueAt: null, cutAt }
}

/** At most so many: those that are due before the first that is one too many. */
export function cutTo(limit: number, taken: Taken): Taken {
  const cutAt = taken.runs[limit]?.dueAt
  if (cutAt === undefined) return taken
  return { ...taken, runs: taken.runs.filter(({ dueAt }) => dueAt < cutAt), nextDueAt: null, cutAt }
}

function answerOf(rows: readonly Row[], runs: TakenRun[]): Taken {
  const nextDueAt = (rows[0]?.['next_due_at'] as number | null | undefined) ?? null
  return { now: rows[0]?.['now'] as number, runs: runs.sort((a, b) => a.dueAt - b.dueAt), nextDueAt }
}

function rareOf(row: Row): readonly Rare[] {
  return (row['rare'] as Rare[] | null) ?? []
}

/** The runs of one partition that are due before some time. */
function runsOf(row: Row, until: number): TakenRun[] {
  const keys = row['keys'] as string[] | null
  if (keys === null) return []
  const partition = row['partition'] as number
  const [turns, dueAts, tallies, putAts] = ['turns', 'due_ats', 'tallies', 'put_ats'].map(
    (name) => row[name] as number[],
  ) as [number[], number[], number[], number[]]
  const slots = row['slots'] as number[] | null
  const payloads = (row['payloads'] as string).split(SEPARATOR)
  // Each is quoted, since it holds a comma, and nothing that would have to be escaped.
  const places = (row['places'] as string).slice(2, -2).split('","')
  const runs: TakenRun[] = []
  for (let nth = 0; nth < keys.length && (dueAts[nth] as number) < until; nth += 1) {
    const [key, payload] = [keys[nth] as string, payloads[nth] as string]
    runs.push({
      key,
      slot: slots === null ? null : fromSlotColumn(slots[nth]),
      group: key,
      partition,
      turn: turns[nth] as number,
      dueAt: dueAts[nth] as number,
      seen: tallies[nth] as number,
      payload: payload === '' ? null : payload,
      attempt: 0,
      crashes: 0,
      putAt: putAts[nth] as number,
      place: places[nth] as string,
    })
  }
  const rare = rareOf(row)
  if (rare.length > 0) fillIn(runs, rare)
  return runs
}

function fillIn(runs: readonly TakenRun[], rare: readonly Rare[]): void {
  let nth = 0
  for (const run of runs) {
    const [turn, group, attempt, crashes] = rare[nth] ?? []
    if (turn !== run.turn) continue
    nth += 1
    run.group = group ?? run.key
    run.attempt = attempt ?? 0
    run.crashes = crashes ?? 0
  }
}
